-- $1 names, $2 number of lanes. One row a subscription that is known, and lane, in order. A lane without any line has n null. The holder
-- is the relay of the last line, if that line holds and the relay still has its row. At last, whether only one relay has a row: the one
-- that asks, as the rows of others whose lease is over were removed before.
select
  s.name,
  s.generation,
  s.paused,
  (select count(*) from {relays} r where s.name = any (r.subscriptions)),
  lanes.lane::smallint,
  l.n,
  l.from_snapshot,
  (select f.snapshot::text from {snapshots} f where f.number = l.from_snapshot),
  l.to_snapshot,
  (select t.snapshot::text from {snapshots} t where t.number = l.to_snapshot),
  l.after_position,
  (select last_value from {positions}),
  (select r.relay from {relays} r where r.relay = l.relay and l.kind in ('taken', 'settled')),
  -- "offset 0": otherwise everything that is parked is read once and put into a hash table. The order is that of one index: see blocked.sql.
  exists (select from {parked} p where p.subscription = s.name and p.lane = lanes.lane order by p.due_at offset 0)
    or exists (
      select from {dead} d
      where d.subscription = s.name and d.lane = lanes.lane and d.resolution is null and d.holds
      order by d.key, d.position, d.dead_id
      offset 0),
  (select count(*) from {relays}) = 1
from unnest($1::text[]) with ordinality asked (name, place)
join {subscriptions} s on s.name = asked.name
cross join generate_series(0, $2 - 1) lanes (lane)
left join lateral (
  select last.n, last.kind, last.relay, last.from_snapshot, last.to_snapshot, last.after_position
  from {lines} last
  where last.subscription = s.name and last.lane = lanes.lane
  order by last.n desc
  limit 1) l on true
order by asked.place, lanes.lane;
