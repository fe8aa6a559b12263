-- $1 payload limit, $2 subscription, $3 whether dead letters hold their key, $4 now or null, $5 'X:X:' with X the end of the window's
-- beginning, $6 to, $7 after, $8 last, $9 lanes (mask), $10 rows at most, $11 first.
-- The next entries of a window in which nothing is late. "Not visible in X:X:" means xid >= X, in a way that the planner does not see
-- through: it shall read by position.
select
    o.position,
    {lane}(o.key, o.id),
    {entry},
{blocked}
from {log} o
where o.position > greatest($7, $11 - 1)
  and o.position <= $8
  and not pg_visible_in_snapshot(o.xid, (select $5::text::pg_snapshot))
  and pg_visible_in_snapshot(o.xid, (select $6::text::pg_snapshot))
  and ($9 >> {lane}(o.key, o.id)) & 1 = 1
order by o.position
limit $10;
