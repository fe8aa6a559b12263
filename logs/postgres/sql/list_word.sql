-- $1 behind this position, $2 before this position, $3 rows at most, $12 subscription, $13 word; the rest: see parts/event_fits.sql.
-- For words that most events have at one time or another; newest first.
select o.position
from {log} o
cross join lateral (
  select s.word
  from {standing} s
  where s.position = o.position and s.subscription = $12
  offset 0) standing
where o.position > $1
  and o.position < $2
  and {event_fits}
  and standing.word = $13
order by o.position desc
limit $3;
