-- $1 before this position, $2 type, $3 topic, $4 key (each or null), $5 rows at most, $6 subscription.
-- By what lies ahead of the cursors, so that a long log of delivered events costs nothing; looked at from the newest until there are enough.
select o.position
from (
  select a.position
  from {ahead} a
  where a.subscription = $6 and a.position < $1
  order by a.position desc
  offset 0) ahead
cross join lateral (
  select s.position, s.word, s.event_type, s.topic, s.key
  from {standing} s
  where s.position = ahead.position and s.subscription = $6
  offset 0) o
where o.word = 'pending'
  and ($2::text is null or o.event_type = $2)
  and ($3::text is null or o.topic = $3)
  and ($4::text is null or o.key = $4)
order by ahead.position desc
limit $5;
