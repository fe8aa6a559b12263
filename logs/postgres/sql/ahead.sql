-- $1 subscription, $2 how many to count of each kind. The first events ahead of the cursors, as the view "ahead" finds them: what is left of windows that
-- are half done (0), what no window sees yet (1), and what was under way when the last one ended (2). Of each kind and lane how many, since when, and
-- the first and the last position.
with
cursors as materialized (
  select c.lane, c.from_snapshot, c.to_snapshot, c.from_seen, c.to_seen, c.after_position
  from {cursors} c
  where c.subscription = $1
),
furthest_behind as materialized (
  select
    (select pg_snapshot_xmax(c.to_seen) from cursors c order by 1 limit 1) as xid,
    (select min(c.after_position) from cursors c where c.from_snapshot <> c.to_snapshot) as position
),
under_way as materialized (
  select distinct x as xid
  from cursors c
  cross join lateral pg_snapshot_xip(c.to_seen) x
  where x < (select b.xid from furthest_behind b)
),
begun as (
  select o.position, {lane}(o.key, o.id) as lane, o.created_at
  from furthest_behind b
  join {log} o on o.position > b.position
  join cursors c on c.lane = {lane}(o.key, o.id)
  where pg_visible_in_snapshot(o.xid, c.to_seen)
    and not {passed}(o.xid, o.position, c.from_seen, c.to_seen, c.after_position)
  limit $2
),
newer as (
  select o.position, {lane}(o.key, o.id) as lane, o.created_at
  from furthest_behind b
  join {log} o on o.xid >= b.xid
  join cursors c on c.lane = {lane}(o.key, o.id)
  where not pg_visible_in_snapshot(o.xid, c.to_seen)
    and not {passed}(o.xid, o.position, c.from_seen, c.to_seen, c.after_position)
  limit $2
),
late as (
  select o.position, {lane}(o.key, o.id) as lane, o.created_at
  from under_way u
  cross join lateral (
    select l.xid, l.position, l.key, l.id, l.created_at
    from {log} l
    where l.xid = u.xid
    offset 0) o
  join cursors c on c.lane = {lane}(o.key, o.id)
  where not pg_visible_in_snapshot(o.xid, c.to_seen)
    and not {passed}(o.xid, o.position, c.from_seen, c.to_seen, c.after_position)
  limit $2
)
select kind, lane, count(*), min(created_at), min(position), max(position)
from (
  select 0 as kind, begun.* from begun
  union all
  select 1, newer.* from newer
  union all
  select 2, late.* from late) counted
group by kind, lane;
