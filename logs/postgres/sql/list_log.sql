-- $1 before this position, $2 type, $3 topic, $4 key (each or null), $5 rows at most. Newest first.
select o.position
from {log} o
where o.position < $1
  and ($2::text is null or o.event_type = $2)
  and ($3::text is null or o.topic = $3)
  and ($4::text is null or o.key = $4)
order by o.position desc
limit $5;
