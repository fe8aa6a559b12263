-- ?1 subscription, ?2 now, ?3 lanes (mask), ?4 whether dead letters hold their key, ?5 rows at most, ?6 bytes of a
-- payload at most: in place of a larger one comes its size.
-- Of each key everything may go that is due, up to the first row that is in the way and not due, or to a dead letter that holds the
-- key; that place is looked for once a key, not once a row. Rows without a key wait for nobody.
-- The plus before a parameter: see read.sql.
with
stops(lane, key, position) as materialized (
  select
    p.lane,
    p.key,
    min(
      coalesce(min(case when p.delayed = 0 and p.due_at > +?2 then p.position end), 9223372036854775807),
      coalesce((
        select min(d.position)
        from "{prefix}_dead" d
        where +?4 and d.subscription = +?1 and d.lane = p.lane and d.key = p.key and d.resolution is null and d.holds = 1),
        9223372036854775807))
  from "{prefix}_parked" p
  where p.subscription = +?1
    and p.key is not null
    and +?3 >> p.lane & 1
  group by p.lane, p.key
  having min(p.due_at) <= +?2
),
going(position) as (
  select p.position
  from stops s
  cross join "{prefix}_parked" p on p.subscription = +?1 and p.lane = s.lane and p.key = s.key
  where p.delayed in (0, 1)
    and p.due_at <= +?2
    and p.position < s.position
  union all
  select p.position
  from "{prefix}_parked" p
  where p.subscription = +?1
    and p.key is null
    and p.due_at <= +?2
    and +?3 >> p.lane & 1
  order by 1
  limit +?5
)
select
  p.position,
  json_array({facts}, p.attempts, 0),
  case when octet_length(p.payload) <= +?6 then p.payload else octet_length(p.payload) end
from going g
cross join "{prefix}_parked" p on p.subscription = +?1 and p.position = g.position
order by g.position;
