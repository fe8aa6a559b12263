-- $1 subscription, $2 relay, then acts: $3 lanes, $4 n, $5 kinds, $6 from, $7 to, $8 after, $9 delivered. The lanes whose last line is
-- this very act. The relay's name alone would not do: with an old census in hand it may ask for something else under a number that
-- it used itself. "offset 0": see append_lines.sql.
select act.lane
from unnest($3::smallint[], $4::bigint[], $5::text[], $6::bigint[], $7::bigint[], $8::bigint[], $9::integer[])
  act (lane, n, kind, f, t, after, delivered)
cross join lateral (
  select line.relay, line.kind, line.from_snapshot, line.to_snapshot, line.after_position, line.delivered
  from {lines} line
  where line.subscription = $1 and line.lane = act.lane and line.n = act.n
  offset 0) l
where l.relay = $2
  and l.kind = act.kind
  and (l.from_snapshot, l.to_snapshot, l.after_position) = (act.f, act.t, act.after)
  and l.delivered = act.delivered
  and not exists (
    select from {lines} later
    where later.subscription = $1 and later.lane = act.lane and later.n > act.n
    offset 0);
