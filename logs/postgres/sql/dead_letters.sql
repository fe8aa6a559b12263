-- $1 bytes of a payload at most, $2 after this one, $3 subscription, $4 reason, $5 type, $6 key (each or null), $7 also the resolved
-- ones, $8 rows at most. Of a payload that is larger only the size is told.
select
  dead_id,
  subscription,
  position,
  id,
  event_type,
  topic,
  key,
  {payload},
  reason,
  error,
  attempts,
  moved_at,
  holds,
  resolution,
  resolved_at,
  resolved_by,
  new_id
from {dead} o
where dead_id > $2
  and ($3::text is null or subscription = $3)
  and ($4::text is null or reason = $4)
  and ($5::text is null or event_type = $5)
  and ($6::text is null or key = $6)
  and ($7 or resolution is null)
order by dead_id
limit $8;
