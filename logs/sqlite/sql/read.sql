-- ?1 subscription, ?2 generation, ?3 now, ?4 lanes (mask), ?5 after, ?6 until, ?7 rows at most,
-- ?8 lanes whose parked entries are wanted (mask), ?9 whether dead letters hold their key, ?10 bytes of a payload at most.
-- One statement is one snapshot: the row without a payload tells how things stand, the others are events in position order.
-- Everything about an event but its payload comes as one JSON array: SQLite copies a row out value by value, and twenty of them
-- cost more than reading the row. Whether anything is parked or held at all is found out once; only then is more looked at.
-- In place of a payload that is too large comes its size, a number, which SQLite knows without loading it.
-- The plus before a parameter keeps SQLite from looking at its value while it plans, and so from planning anew at every call.
with recursive
-- One step for each lane with something parked, however many rows it has.
parked_lanes(lane) as (
  select min(lane) from "{prefix}_parked" where subscription = +?1
  union all
  select (select min(p.lane) from "{prefix}_parked" p where p.subscription = +?1 and p.lane > known.lane)
  from parked_lanes known
  where known.lane is not null
),
held_lanes(lane) as (
  select min(lane) from "{prefix}_dead" where subscription = +?1 and resolution is null and holds = 1
  union all
  select (
    select min(d.lane)
    from "{prefix}_dead" d
    where d.subscription = +?1 and d.resolution is null and d.holds = 1 and d.lane > known.lane)
  from held_lanes known
  where known.lane is not null
),
trouble(mask) as materialized (
  select coalesce(sum(distinct 1 << lane), 0)
  from (select lane from parked_lanes union all select lane from held_lanes)
)
select
  coalesce((select seq from sqlite_sequence where name = '{prefix}'), 0),
  json_array(
    not exists (select 1 from "{prefix}_subscriptions" where name = +?1 and generation = +?2 and paused = 0),
    case
      when exists (select 1 from "{prefix}_parked" where subscription = +?1)
        or exists (select 1 from "{prefix}_dead" where subscription = +?1 and resolution is null and holds = 1)
        then (select mask from trouble)
      else 0
    end,
    case when exists (select 1 from "{prefix}_parked" where subscription = +?1) then (
      select min((select min(p.due_at) from "{prefix}_parked" p where p.subscription = +?1 and p.lane = known.lane))
      from parked_lanes known
      where +?8 >> known.lane & 1)
    end,
    case when exists (select 1 from "{prefix}_parked" where subscription = +?1) then (
      select min((
        select min(p.due_at)
        from "{prefix}_parked" p
        where p.subscription = +?1 and p.lane = known.lane and p.due_at > +?3))
      from parked_lanes known
      where +?8 >> known.lane & 1)
    end),
  null
union all
select *
from (
  select
    o.position,
    json_array({facts}, 0,
      case
        when o.key is null then 0
        when not exists (select 1 from "{prefix}_parked" where subscription = +?1)
          and not exists (select 1 from "{prefix}_dead" where subscription = +?1 and resolution is null and holds = 1)
          then 0
        when not ((select mask from trouble) >> o.lane & 1) then 0
        -- The plus before a position keeps the index by position out of it, which would look at what all other keys have
        -- parked.
        when exists (
          select 1
          from "{prefix}_parked" p
          where p.subscription = +?1 and p.lane = o.lane and p.key = o.key and p.delayed = 0
            and +p.position < o.position)
          then 1
        when exists (
          select 1
          from "{prefix}_parked" p
          where p.subscription = +?1 and p.lane = o.lane and p.key = o.key and p.delayed = 1 and p.due_at <= +?3
            and +p.position < o.position)
          then 1
        when +?9 and exists (
          select 1
          from "{prefix}_dead" d
          where d.subscription = +?1 and d.lane = o.lane and d.key = o.key and d.resolution is null and d.holds = 1
            and d.position < o.position)
          then 1
        else 0
      end),
    case when octet_length(o.payload) <= +?10 then o.payload else octet_length(o.payload) end
  from "{prefix}" o
  where o.position > +?5
    and o.position <= +?6
    and +?4 >> o.lane & 1
  order by o.position
  limit +?7
);
