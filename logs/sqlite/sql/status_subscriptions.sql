-- ?1 now, ?2 number of lanes. One row a subscription, by name.
-- What is ahead of the cursors has to be counted row by row; the rest comes from indexes. The plus lets SQLite make an index for
-- the cursors: their lane has no type, and the one of a column would be in its way.
with recursive
lanes(lane) as (
  values (0)
  union all
  select lane + 1 from lanes where lane + 1 < ?2
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
-- A lane without a line has settled nothing, so that everything in it counts.
cursors(subscription, lane, cursor, delivered, held) as materialized (
  select
    e.subscription,
    e.lane,
    coalesce(last.cursor, 0),
    coalesce(last.delivered_total - first.delivered_total + first.delivered, 0),
    last.kind in ('taken', 'settled')
      and exists (select 1 from "{prefix}_relays" r where r.relay = last.relay and r.held_until >= ?1)
  from ends e
  left join "{prefix}_lines" last on last.subscription = e.subscription and last.lane = e.lane and last.n = e.last
  left join "{prefix}_lines" first on first.subscription = e.subscription and first.lane = e.lane and first.n = e.first
)
select
  s.name,
  s.paused,
  (select json_array(count(*), min(o.created_at))
    from "{prefix}" o
    cross join cursors c on c.subscription = s.name and c.lane = +o.lane
    where o.position > (select min(first.cursor) from cursors first where first.subscription = s.name)
      and o.position > c.cursor),
  (select json_array(
      count(*),
      count(case when p.delayed = 1 and p.due_at > ?1 then 1 end),
      min(case when p.delayed = 0 or p.due_at <= ?1 then o.created_at end))
    from "{prefix}_parked" p
    left join "{prefix}" o on o.position = p.position
    where p.subscription = s.name),
  (select count(*) from "{prefix}_dead" d where d.subscription = s.name and d.resolution is null),
  (select coalesce(sum(c.delivered), 0) from cursors c where c.subscription = s.name),
  (select count(*) from cursors c where c.subscription = s.name and c.held)
from "{prefix}_subscriptions" s
order by s.name;
