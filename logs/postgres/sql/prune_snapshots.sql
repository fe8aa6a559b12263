-- $1 older than, $2 how many at most, $3 number of lanes. What no line stands on.
-- In a lane numbers only grow, so that its first line has the lowest. Lanes with one line only, of which nobody may ever write another,
-- keep just what that line stands on.
with
ends as materialized (
  select first.from_snapshot as lowest, first.n as first, last.n as last, last.from_snapshot, last.to_snapshot
  from {subscriptions} s
  cross join generate_series(0, $3 - 1) lanes (lane)
  cross join lateral (
    select l.n, l.from_snapshot
    from {lines} l
    where l.subscription = s.name and l.lane = lanes.lane
    order by l.n
    limit 1) first
  cross join lateral (
    select l.n, l.from_snapshot, l.to_snapshot
    from {lines} l
    where l.subscription = s.name and l.lane = lanes.lane
    order by l.n desc
    limit 1) last
),
needed as (
  select from_snapshot as number from ends
  union
  select to_snapshot from ends
  union
  select started_from from {subscriptions}
  union
  select started_to from {subscriptions}
)
delete from {snapshots}
where number = any (array(
  select s.number
  from {snapshots} s
  where s.number > 0
    and s.at < $1
    and s.number < (select coalesce(min(lowest) filter (where last > first and lowest > 0), 9223372036854775807) from ends)
    and not exists (select from needed where needed.number = s.number)
  order by s.number
  limit $2));
