-- ?1 older than, ?2 how many at most, ?3 number of lanes. Never the last of a lane: it is the cursor.
-- Only from the front, up to the first that is young (or would be one too many): a line that went from the middle would leave
-- its number to whoever still wants it.
with recursive
lanes(lane) as (
  values (0)
  union all
  select lane + 1 from lanes where lane + 1 < ?3
),
ends(subscription, lane, first, last) as (
  select
    s.name,
    lanes.lane,
    (select min(l.n) from "{prefix}_lines" l where l.subscription = s.name and l.lane = lanes.lane),
    (select max(l.n) from "{prefix}_lines" l where l.subscription = s.name and l.lane = lanes.lane)
  from "{prefix}_subscriptions" s
  cross join lanes
),
old(subscription, lane, first, stop) as (
  select e.subscription, e.lane, e.first, min(e.last, coalesce((
    select min(young.n)
    from "{prefix}_lines" young
    where young.subscription = e.subscription and young.lane = e.lane and young.n >= e.first
      and young.n < e.first + ?2 and young.at >= ?1), e.first + ?2))
  from ends e
)
delete from "{prefix}_lines"
where (subscription, lane, n) in (
  select l.subscription, l.lane, l.n
  from old
  cross join "{prefix}_lines" l
    on l.subscription = old.subscription and l.lane = old.lane and l.n >= old.first and l.n < old.stop
  order by l.subscription, l.lane, l.n
  limit ?2);
