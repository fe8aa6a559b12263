-- $1 payload limit, $2 subscription, $3 whether dead letters hold their key, $4 now or null, $5 lanes (mask), $6 rows at most.
-- Of each key everything may go that is due, up to the first row that is in the way and not due, or to a dead letter that holds the
-- key; that place is looked for once a key, not once a row. Rows without a key wait for nobody.
with
clock(now) as materialized (
  select coalesce($4, statement_timestamp())
),
stops(lane, key, position) as materialized (
  select
    p.lane,
    p.key,
    least(
      min(p.position) filter (where not p.delayed and p.due_at > (select now from clock)),
      case when $3 then (
        select min(d.position)
        from {dead} d
        where d.subscription = $2 and d.lane = p.lane and d.key = p.key and d.resolution is null and d.holds)
      end)
  from {parked} p
  where p.subscription = $2
    and p.key is not null
    and ($5 >> p.lane) & 1 = 1
  group by p.lane, p.key
  having min(p.due_at) <= (select now from clock)
),
going(position) as materialized (
  (select p.position
    from stops s
    join {parked} p on p.subscription = $2 and p.lane = s.lane and p.key = s.key
    where p.due_at <= (select now from clock)
      and (s.position is null or p.position < s.position)
  union all
  select p.position
    from {parked} p
    where p.subscription = $2
      and p.key is null
      and p.due_at <= (select now from clock)
      and ($5 >> p.lane) & 1 = 1)
  order by position
  limit $6
)
select o.position, o.lane, {entry}, o.attempts
from going
join {parked} o on o.subscription = $2 and o.position = going.position
order by o.position;
