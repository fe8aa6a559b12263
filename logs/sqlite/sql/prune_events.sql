-- ?1 older than, ?2 how many at most, ?3 number of lanes.
-- Only what every subscription has passed in its lane and nobody has parked; without subscriptions, nothing. (The plus: see
-- status_subscriptions.sql.)
with recursive
lanes(lane) as (
  values (0)
  union all
  select lane + 1 from lanes where lane + 1 < ?3
),
passed(lane, cursor) as materialized (
  select lanes.lane, min(coalesce((
    select l.cursor
    from "{prefix}_lines" l
    where l.subscription = s.name and l.lane = lanes.lane
    order by l.n desc
    limit 1), 0))
  from lanes
  cross join "{prefix}_subscriptions" s
  group by lanes.lane
),
-- Positions and times grow together, so the first event that is too young is found by halving, not by reading everything
-- that is kept. (If the clock was set back, this only stops early; each row is looked at again below.)
search(low, high) as (
  select (select min(position) from "{prefix}"), (select max(position) + 1 from "{prefix}")
  union all
  select
    case when found.created_at < ?1 then found.position + 1 else s.low end,
    case when found.created_at < ?1 then s.high else (s.low + s.high) / 2 end
  from search s
  cross join "{prefix}" found on found.position = (
    select min(o.position)
    from "{prefix}" o
    where o.position >= (s.low + s.high) / 2)
  where s.low < s.high
)
delete from "{prefix}"
where position in (
  select o.position
  from "{prefix}" o
  where o.position < (select max(low) from search)
    and o.position <= (select max(cursor) from passed)
    and o.position <= (select passed.cursor from passed where passed.lane = +o.lane)
    and o.created_at < ?1
    and not exists (
      select 1
      from "{prefix}_subscriptions" s
      cross join "{prefix}_parked" p on p.subscription = s.name and p.position = o.position)
  order by o.position
  limit ?2);
