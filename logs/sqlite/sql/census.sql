-- ?1 names as a JSON array, ?2 number of lanes. One row a subscription that is known, and lane, in order. A lane without any line
-- has n null. The holder is the relay of the last line, if that line holds and the relay still has its row. At last, whether only one
-- relay has a row: the one that asks, as the rows of others whose lease is over were removed before.
with recursive lanes(lane) as (
  values (0)
  union all
  select lane + 1 from lanes where lane + 1 < ?2
)
select
  s.name,
  s.generation,
  s.paused,
  (select count(*)
    from "{prefix}_relays" r
    where exists (select 1 from json_each(r.subscriptions) served where served.value = s.name)),
  lanes.lane,
  l.n,
  l.cursor,
  (select r.relay
    from "{prefix}_relays" r
    where r.relay = l.relay and l.kind in ('taken', 'settled')),
  exists (select 1 from "{prefix}_parked" p where p.subscription = s.name and p.lane = lanes.lane)
    or exists (
      select 1
      from "{prefix}_dead" d
      where d.subscription = s.name and d.lane = lanes.lane and d.resolution is null and d.holds = 1),
  (select count(*) from "{prefix}_relays") = 1
from json_each(?1) asked
cross join "{prefix}_subscriptions" s on s.name = asked.value
cross join lanes
left join "{prefix}_lines" l on l.subscription = s.name and l.lane = lanes.lane and l.n = (
  select max(last.n)
  from "{prefix}_lines" last
  where last.subscription = s.name and last.lane = lanes.lane)
order by asked.key, lanes.lane;
