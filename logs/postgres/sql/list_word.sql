-- $1 before this position, $2 type, $3 topic, $4 key (each or null), $5 rows at most, $6 subscription, $7 word.
-- For words that most events have at one time or another; newest first.
select o.position
from {standing} o
where o.position < $1
  and o.subscription = $6
  and o.word = $7
  and ($2::text is null or o.event_type = $2)
  and ($3::text is null or o.topic = $3)
  and ($4::text is null or o.key = $4)
order by o.position desc
limit $5;
