-- $1 behind this position, $2 before this position, $3 rows at most, $12 subscription, $13 whether the delayed ones are meant, or the others, $14 now
-- or null; the rest: see parts/event_fits.sql. By what is parked, so that a long log costs nothing.
select p.position
from {parked} p
cross join lateral (
  select l.event_type, l.topic, l.key, l.aggregate_type, l.aggregate_id, l.tenant_id, l.created_at
  from {log} l
  where l.position = p.position
  offset 0) o
where p.subscription = $12
  and p.position > $1
  and p.position < $2
  and (p.delayed and p.due_at > coalesce($14, statement_timestamp())) = $13
  and {event_fits}
order by p.position desc
limit $3;
