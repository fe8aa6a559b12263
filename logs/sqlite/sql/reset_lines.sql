-- ?1 subscription, ?2 cursor, ?3 now, ?4 number of lanes. A line like any other: whoever settles late finds its number taken.
with recursive lanes(lane) as (
  values (0)
  union all
  select lane + 1 from lanes where lane + 1 < ?4
)
insert into "{prefix}_lines" (subscription, lane, n, kind, cursor, delivered_total, at)
select ?1, l.lane, l.n + 1, 'reset', ?2, l.delivered_total, ?3
from lanes
cross join "{prefix}_lines" l on l.subscription = ?1 and l.lane = lanes.lane and l.n = (
  select max(last.n)
  from "{prefix}_lines" last
  where last.subscription = ?1 and last.lane = lanes.lane);
