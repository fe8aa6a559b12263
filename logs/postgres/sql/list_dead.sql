-- $1 behind this position, $2 before this position, $3 rows at most, $12 subscription; the rest: see parts/event_fits.sql.
-- By the dead letters, so that a long log costs nothing ("offset 0": see statuses.sql). An event that died twice is one event.
select died.position
from (
  select distinct d.position
  from {dead} d
  where d.subscription = $12 and d.position > $1 and d.position < $2
  order by d.position desc
  offset 0) died
cross join lateral (
  select l.event_type, l.topic, l.key, l.aggregate_type, l.aggregate_id, l.tenant_id, l.created_at
  from {log} l
  where l.position = died.position
  offset 0) o
cross join lateral (
  select s.word
  from {standing} s
  where s.position = died.position and s.subscription = $12
  offset 0) standing
where standing.word = 'dead'
  and {event_fits}
order by died.position desc
limit $3;
