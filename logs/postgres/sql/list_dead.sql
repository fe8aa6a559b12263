-- $1 before this position, $2 type, $3 topic, $4 key (each or null), $5 rows at most, $6 subscription.
-- By the dead letters, so that a long log costs nothing ("offset 0": see statuses.sql). An event that died twice is one event.
select o.position
from (
  select distinct d.position
  from {dead} d
  where d.subscription = $6 and d.position < $1
  order by d.position desc
  offset 0) died
cross join lateral (
  select s.position, s.word, s.event_type, s.topic, s.key
  from {standing} s
  where s.position = died.position and s.subscription = $6
  offset 0) o
where o.word = 'dead'
  and ($2::text is null or o.event_type = $2)
  and ($3::text is null or o.topic = $3)
  and ($4::text is null or o.key = $4)
order by died.position desc
limit $5;
