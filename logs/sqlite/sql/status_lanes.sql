-- ?1 subscription or null for all, ?2 number of lanes. The last line of every lane, with how many deliveries its lines tell of; n is null if it
-- has none.
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
  where ?1 is null or s.name = ?1
)
select
  e.subscription,
  e.lane,
  last.n,
  last.kind,
  last.relay,
  coalesce(last.cursor, 0),
  last.at,
  coalesce(last.delivered_total - first.delivered_total + first.delivered, 0)
from ends e
left join "{prefix}_lines" last on last.subscription = e.subscription and last.lane = e.lane and last.n = e.last
left join "{prefix}_lines" first on first.subscription = e.subscription and first.lane = e.lane and first.n = e.first
order by e.subscription, e.lane;
