-- $1 subscription, $2 number of lanes, $3 from, $4 to, $5 after, $6 now or null. Every lane has a line before anybody can take one.
insert into {lines} (subscription, lane, n, kind, from_snapshot, to_snapshot, after_position, at)
select $1, lanes.lane, s.first_line, 'reset', $3, $4, $5, coalesce($6, statement_timestamp())
from {subscriptions} s
cross join generate_series(0, $2 - 1) lanes (lane)
where s.name = $1;
