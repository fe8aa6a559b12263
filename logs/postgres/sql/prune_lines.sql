-- $1 older than, $2 how many at most, $3 number of lanes. Never the last of a lane: it is the cursor.
-- Only from the front, up to the first that is young (or would be one too many): a line that went from the middle would leave its number
-- to whoever still wants it.
with
ends as materialized (
  select
    s.name as subscription,
    lanes.lane::smallint as lane,
    (select min(l.n) from {lines} l where l.subscription = s.name and l.lane = lanes.lane) as first,
    (select max(l.n) from {lines} l where l.subscription = s.name and l.lane = lanes.lane) as last
  from {subscriptions} s
  cross join generate_series(0, $3 - 1) lanes (lane)
),
old as (
  select e.subscription, e.lane, e.first, least(e.last, coalesce((
    select min(young.n)
    from {lines} young
    where young.subscription = e.subscription and young.lane = e.lane and young.n >= e.first
      and young.n < e.first + $2 and young.at >= $1), e.first + $2)) as stop
  from ends e
),
gone as (
  select l.ctid
  from old
  cross join lateral (
    select line.ctid
    from {lines} line
    where line.subscription = old.subscription and line.lane = old.lane and line.n >= old.first and line.n < old.stop
    order by line.n
    limit $2) l
  limit $2
)
delete from {lines}
where ctid = any (array(select ctid from gone));
