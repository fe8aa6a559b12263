-- As batch.sql, with $12 the transactions that were under way in the window's beginning and are not any more. Their events are merged
-- by position: of one key, what was inserted first goes first. Everything is found by position, and only then looked at.
select
    o.position,
    {lane}(o.key, o.id),
    {entry},
{blocked}
from (
  select position
  from (
    (select o.position
      from {log} o
      where o.position > greatest($7, $11 - 1)
        and o.position <= $8
        and not pg_visible_in_snapshot(o.xid, (select $5::text::pg_snapshot))
        and pg_visible_in_snapshot(o.xid, (select $6::text::pg_snapshot))
        and ($9 >> {lane}(o.key, o.id)) & 1 = 1
      order by o.position
      limit $10)
    union all
    (select r.position
      from unnest((select $12::text::xid8[])) x
      cross join lateral (
        select o.position
        from {log} o
        where o.xid = x
          and o.position > $7
          and ($9 >> {lane}(o.key, o.id)) & 1 = 1
        order by o.position
        limit $10) r)) b
  order by position
  limit $10) merged
-- One lookup for each, whatever the planner knows of the table.
cross join lateral (
  select *
  from {log} l
  where l.position = merged.position
  offset 0) o
order by merged.position;
