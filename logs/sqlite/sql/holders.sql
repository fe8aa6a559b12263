-- ?1 subscription, ?2 now, ?3 number of lanes. The relays that hold lanes and whose lease has not ended.
with recursive lanes(lane) as (
  values (0)
  union all
  select lane + 1 from lanes where lane + 1 < ?3
)
select distinct r.relay
from lanes
cross join "{prefix}_lines" l on l.subscription = ?1 and l.lane = lanes.lane and l.n = (
  select max(last.n)
  from "{prefix}_lines" last
  where last.subscription = ?1 and last.lane = lanes.lane)
cross join "{prefix}_relays" r on r.relay = l.relay
where l.kind in ('taken', 'settled')
  and r.held_until >= ?2
order by r.relay;
