-- $1 subscription, $2 relay, $3 now or null, $4 incarnation or null, $5 and $6 the snapshots that the lines stand on (numbers, texts),
-- then the acts, each lane once: $7 lanes, $8 n, $9 kinds, $10 from, $11 to, $12 after, $13 delivered, $14 parked, $15 dead.
-- Line n goes in only behind line n - 1 and only once: a lane that is not answered has been overtaken, or is asked for again.
-- Nothing at all goes in if the server is in another incarnation than the snapshots. In lane order, or two relays could lock each other.
with
alive as materialized (
  select from {incarnation} where id = $4
  union all
  select where $4 is null
),
kept as (
  insert into {snapshots} (number, snapshot)
  select s.number, s.snapshot::pg_snapshot
  from unnest($5::bigint[], $6::text[]) s (number, snapshot)
  where exists (select from alive)
  order by s.number
  on conflict (number) do nothing
)
insert into {lines} (
  subscription, lane, n, kind, relay, from_snapshot, to_snapshot, after_position, delivered, parked, dead,
  delivered_total, at)
select
  $1, act.lane, act.n, act.kind, $2, act.f, act.t, act.after, act.delivered, act.parked, act.dead,
  before.delivered_total + act.delivered, coalesce($3, statement_timestamp())
from unnest(
    $7::smallint[], $8::bigint[], $9::text[], $10::bigint[], $11::bigint[], $12::bigint[], $13::integer[], $14::integer[],
    $15::integer[])
  act (lane, n, kind, f, t, after, delivered, parked, dead)
-- "offset 0": each is looked up by its key. Joined by a plan of when there were few, all lines of the subscription are read, each time.
cross join lateral (
  select line.delivered_total
  from {lines} line
  where line.subscription = $1 and line.lane = act.lane and line.n = act.n - 1
  offset 0) before
where exists (select from alive)
order by act.lane
on conflict (subscription, lane, n) do nothing
returning lane;
