-- $1 before this position, $2 type, $3 topic, $4 key (each or null), $5 rows at most, $6 subscription, $7 whether the delayed ones are
-- meant, or the others, $8 now or null. By what is parked, so that a long log costs nothing.
select p.position
from {parked} p
cross join lateral (
  select l.event_type, l.topic, l.key
  from {log} l
  where l.position = p.position
  offset 0) o
where p.subscription = $6
  and p.position < $1
  and (p.delayed and p.due_at > coalesce($8, statement_timestamp())) = $7
  and ($2::text is null or o.event_type = $2)
  and ($3::text is null or o.topic = $3)
  and ($4::text is null or o.key = $4)
order by p.position desc
limit $5;
