-- $1 a snapshot of now (number), $2 now or null. Before anything else is changed: old cursors and old transaction ids still fit each other.
-- Every lane begins again behind the last event before which everything is done. What is done beyond it comes once more; what was
-- published in this cluster lies behind everything that the old lines know of, and comes too.
insert into {lines} (subscription, lane, n, kind, from_snapshot, to_snapshot, after_position, delivered_total, at)
select
  c.subscription, c.lane, coalesce(c.n, 0) + 1, 'reset', 0, $1, least(left_over.first - 1, known.last), c.delivered_total,
  coalesce($2, statement_timestamp())
from {cursors} c
cross join lateral (
  select coalesce(max(l.after_position), 0) as last
  from {lines} l
  where l.subscription = c.subscription and l.lane = c.lane) known
left join (
  select a.subscription, a.lane, min(a.position) as first
  from {ahead} a
  group by a.subscription, a.lane) left_over on left_over.subscription = c.subscription and left_over.lane = c.lane
order by c.subscription, c.lane;
