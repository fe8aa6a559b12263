-- $1 payload limit, $2 subscription, $3 whether dead letters hold their key, $4 now or null, $5 lanes (mask), $6 rows at most.
-- Of each key everything may go that is due, up to the first row that is in the way and not due, or to a dead letter that holds the
-- key; that place is looked for once a key, not once a row. Rows without a key wait for nobody. Only what is due is read, lane by lane in
-- the index of times: what waits for its time may be a million reminders. How rows are looked up: see unpark.sql.
with
clock(now) as materialized (
  select coalesce($4, statement_timestamp())
),
keys(lane, key) as materialized (
  select distinct lanes.lane, due.key
  from generate_series(0, 63) lanes (lane)
  cross join lateral (
    select p.key
    from {parked} p
    where p.subscription = $2 and p.lane = lanes.lane and p.due_at <= (select now from clock) and p.key is not null
    order by p.due_at
    offset 0) due
  where ($5 >> lanes.lane) & 1 = 1
),
stops(lane, key, position) as materialized (
  select
    k.lane,
    k.key,
    least(
      (select min(waiting.position)
        from (
          select p.position
          from {parked} p
          where p.subscription = $2 and p.lane = k.lane and p.key = k.key and not p.delayed and p.due_at > (select now from clock)
          order by p.due_at, p.position
          offset 0) waiting),
      case when $3 then (
        select d.position
        from {dead} d
        where d.subscription = $2 and d.lane = k.lane and d.key = k.key and d.resolution is null and d.holds
        order by d.position, d.dead_id
        limit 1)
      end)
  from keys k
),
going(position) as materialized (
  (select due.position
    from stops s
    cross join lateral (
      select p.position
      from {parked} p
      where p.subscription = $2 and p.lane = s.lane and p.key = s.key and p.due_at <= (select now from clock)
        and (s.position is null or p.position < s.position)
      order by p.delayed, p.due_at, p.position
      offset 0) due
  union all
  select due.position
    from generate_series(0, 63) lanes (lane)
    cross join lateral (
      select p.position
      from {parked} p
      where p.subscription = $2 and p.lane = lanes.lane and p.due_at <= (select now from clock) and p.key is null
      order by p.due_at
      offset 0) due
    where ($5 >> lanes.lane) & 1 = 1)
  order by position
  limit $6
)
select o.position, o.lane, {entry}, o.attempts
from going
cross join lateral (
  select *
  from {parked} p
  where p.subscription = $2 and p.position between going.position and going.position
  order by p.position
  offset 0) o
order by o.position;
