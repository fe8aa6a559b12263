-- $1 subscription, $2 from, $3 to, $4 after, $5 now or null. Lines like any other: whoever settles late finds their numbers taken. Fewer than
-- there are lanes: somebody was faster.
insert into {lines} (subscription, lane, n, kind, from_snapshot, to_snapshot, after_position, delivered_total, at)
select $1, c.lane, coalesce(c.n, 0) + 1, 'reset', $2, $3, $4, c.delivered_total, coalesce($5, statement_timestamp())
from {cursors} c
where c.subscription = $1
order by c.lane
on conflict (subscription, lane, n) do nothing;
