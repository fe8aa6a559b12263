-- ?1 since when, ?2 number of lanes. How many deliveries the lines of each subscription tell of since then. Of a lane that moved since, the last line
-- before that is found by halving: "low" was written before (or is the first), "high" was not.
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
search(subscription, lane, low, high, last) as (
  select e.subscription, e.lane, e.first, e.last, e.last
  from ends e
  cross join "{prefix}_lines" l on l.subscription = e.subscription and l.lane = e.lane and l.n = e.last
  where l.at >= ?1
  union all
  select
    s.subscription,
    s.lane,
    case when middle.at < ?1 then middle.n else s.low end,
    case when middle.at < ?1 then s.high else middle.n end,
    s.last
  from search s
  cross join "{prefix}_lines" middle
    on middle.subscription = s.subscription and middle.lane = s.lane and middle.n = (s.low + s.high) / 2
  where s.high - s.low > 1
)
select
  s.subscription,
  sum(last.delivered_total - low.delivered_total + case when low.at < ?1 then 0 else low.delivered end)
from search s
cross join "{prefix}_lines" low on low.subscription = s.subscription and low.lane = s.lane and low.n = s.low
cross join "{prefix}_lines" last on last.subscription = s.subscription and last.lane = s.lane and last.n = s.last
where s.high - s.low <= 1
group by s.subscription;
