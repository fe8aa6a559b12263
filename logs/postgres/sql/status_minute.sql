-- $1 now or null. How many deliveries the lines of each subscription tell of in the last minute. Of a lane that moved since, the last line before that is
-- found by halving: "low" was written before (or is the first), "high" was not.
with recursive
since as materialized (
  select coalesce($1, statement_timestamp()) - interval '1 minute' as at
),
search (subscription, lane, low, high, last) as (
  select c.subscription, c.lane, first.n, c.n, c.n
  from since
  cross join {cursors} c
  cross join lateral (
    select l.n
    from {lines} l
    where l.subscription = c.subscription and l.lane = c.lane
    order by l.n
    limit 1) first
  where c.at >= since.at
  union all
  select
    s.subscription,
    s.lane,
    case when middle.before then middle.n else s.low end,
    case when middle.before then s.high else middle.n end,
    s.last
  from search s
  cross join lateral (
    select l.n, l.at < (select since.at from since) as before
    from {lines} l
    where l.subscription = s.subscription and l.lane = s.lane and l.n = (s.low + s.high) / 2
    offset 0) middle
  where s.high - s.low > 1
)
select
  s.subscription,
  sum(ends.total - ends.base)::bigint
from search s
cross join lateral (
  select
    (select l.delivered_total from {lines} l where l.subscription = s.subscription and l.lane = s.lane and l.n = s.last) as total,
    (select l.delivered_total - case when l.at < (select since.at from since) then 0 else l.delivered end
      from {lines} l
      where l.subscription = s.subscription and l.lane = s.lane and l.n = s.low) as base) ends
where s.high - s.low <= 1
group by s.subscription;
