-- $1 now or null. One row a subscription, by name: name, paused, how many events are ahead of the cursors and since when, how many are
-- parked, how many of those are delayed, since when the others are there, dead letters, delivered, lanes held.
with
cursors as materialized (
  select
    c.subscription,
    c.delivered_total - first.delivered_total + first.delivered as delivered,
    c.kind in ('taken', 'settled') and exists (
      select from {relays} r where r.relay = c.relay and r.held_until >= coalesce($1, statement_timestamp())) as held
  from {cursors} c
  left join lateral (
    select l.delivered_total, l.delivered
    from {lines} l
    where l.subscription = c.subscription and l.lane = c.lane
    order by l.n
    limit 1) first on true
)
select
  s.name,
  s.paused,
  ahead.events,
  ahead.oldest,
  parked.events,
  parked.delayed,
  parked.oldest,
  (select count(*) from {dead} d where d.subscription = s.name and d.resolution is null),
  coalesce(lanes.delivered, 0)::bigint,
  lanes.held
from {subscriptions} s
cross join lateral (
  select count(*) as events, min(a.created_at) as oldest
  from {ahead} a
  where a.subscription = s.name) ahead
cross join lateral (
  select
    count(*) as events,
    count(*) filter (where p.delayed and p.due_at > coalesce($1, statement_timestamp())) as delayed,
    min((select o.created_at from {log} o where o.position = p.position))
      filter (where not (p.delayed and p.due_at > coalesce($1, statement_timestamp()))) as oldest
  from {parked} p
  where p.subscription = s.name) parked
cross join lateral (
  select sum(c.delivered) as delivered, count(*) filter (where c.held) as held
  from cursors c
  where c.subscription = s.name) lanes
order by s.name;
