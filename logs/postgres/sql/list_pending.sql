-- $1 behind this position, $2 before this position, $3 rows at most, $12 subscription, $13 word; the rest: see parts/event_fits.sql.
-- By what lies ahead of the cursors, so that a long log of delivered events costs nothing; looked at from the newest until there are enough.
-- (For a backlog that can be sorted: a longer one is listed by list_word.sql.)
select ahead.position
from (
  select a.position
  from {ahead} a
  where a.subscription = $12 and a.position > $1 and a.position < $2
  order by a.position desc
  offset 0) ahead
cross join lateral (
  select l.event_type, l.topic, l.key, l.aggregate_type, l.aggregate_id, l.tenant_id, l.created_at
  from {log} l
  where l.position = ahead.position
  offset 0) o
cross join lateral (
  select s.word
  from {standing} s
  where s.position = ahead.position and s.subscription = $12
  offset 0) standing
where standing.word = $13
  and {event_fits}
order by ahead.position desc
limit $3;
