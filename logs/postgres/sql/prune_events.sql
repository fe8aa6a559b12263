-- $1 older than, $2 how many rows to look at, $3 number of lanes, $4 from behind this position.
-- Looks at a few rows in position order and removes those that every subscription has passed in its lane and nobody has parked; without
-- subscriptions, none. Answers how many went, how many were looked at, and the position of the last.
with
cursors as materialized (
  select
    l.lane,
    (select f.snapshot from {snapshots} f where f.number = l.from_snapshot) as f,
    (select t.snapshot from {snapshots} t where t.number = l.to_snapshot) as t,
    l.after_position
  from {subscriptions} s
  cross join generate_series(0, $3 - 1) lanes (lane)
  cross join lateral (
    select last.lane, last.from_snapshot, last.to_snapshot, last.after_position
    from {lines} last
    where last.subscription = s.name and last.lane = lanes.lane
    order by last.n desc
    limit 1) l
),
looked_at as materialized (
  select o.position, o.xid, {lane}(o.key, o.id) as lane, o.created_at
  from {log} o
  where o.position > $4
  order by o.position
  limit $2
),
gone as (
  delete from {log}
  where position = any (array(
    select o.position
    from looked_at o
    where o.created_at < $1
      and exists (select from {subscriptions})
      -- A lane without a line has passed nothing.
      and (select count(*) from cursors) = $3 * (select count(*) from {subscriptions})
      and not exists (
        select from cursors c
        where c.lane = o.lane
          and {passed}(o.xid, o.position, c.f, c.t, c.after_position) is not true)
      and not exists (
        select from {subscriptions} s
        join {parked} p on p.subscription = s.name and p.position = o.position
        offset 0)))
  returning position
)
select
  (select count(*) from gone),
  count(*) filter (where created_at < $1),
  coalesce(max(position) filter (where created_at < $1), $4)
from looked_at;
