-- Who writes (subscription, relay, now), then the acts: lane, n, kind, cursor, delivered, parked, dead; each lane once. Acts whose
-- lane is null only fill the statement up.
-- Line n goes in only behind line n - 1 and only once: a row that is missing has been overtaken, or is asked for again. How many
-- went in is all that is answered: to hand out the rows costs more than to write them.
with
writer(subscription, relay, now) as (
  values (?, ?, ?)
),
act(lane, n, kind, cursor, delivered, parked, dead) as (
  values {rows}
)
insert into "{prefix}_lines" (
  subscription, lane, n, kind, relay, cursor, delivered, delivered_total, parked, dead, at)
select
  writer.subscription,
  act.lane,
  act.n,
  act.kind,
  writer.relay,
  act.cursor,
  act.delivered,
  before.delivered_total + act.delivered,
  act.parked,
  act.dead,
  writer.now
from writer
cross join act
cross join "{prefix}_lines" before
  on before.subscription = writer.subscription and before.lane = act.lane and before.n = act.n - 1
where true
on conflict (subscription, lane, n) do nothing;
