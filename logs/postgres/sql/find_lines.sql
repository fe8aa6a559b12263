-- $1 subscription, $2 relay, then acts: $3 lanes, $4 n, $5 kinds, $6 from, $7 to, $8 after, $9 delivered. The lanes whose last line is
-- this very act. The relay's name alone would not do: with an old census in hand it may ask for something else under a number that
-- it used itself.
select l.lane
from unnest($3::smallint[], $4::bigint[], $5::text[], $6::bigint[], $7::bigint[], $8::bigint[], $9::integer[])
  act (lane, n, kind, f, t, after, delivered)
join {lines} l on l.subscription = $1 and l.lane = act.lane and l.n = act.n
where l.relay = $2
  and l.kind = act.kind
  and (l.from_snapshot, l.to_snapshot, l.after_position) = (act.f, act.t, act.after)
  and l.delivered = act.delivered
  and not exists (
    select from {lines} later
    where later.subscription = $1 and later.lane = l.lane and later.n > l.n);
