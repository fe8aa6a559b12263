-- ?1 after this one, ?2 subscription, ?3 reason, ?4 type, ?5 key (each or null), ?6 also the resolved ones, ?7 rows at most,
-- ?8 bytes of a payload at most: in place of a larger one comes its size.
select
  dead_id,
  subscription,
  position,
  id,
  event_type,
  topic,
  key,
  case when octet_length(payload) <= ?8 then payload else octet_length(payload) end,
  reason,
  error,
  attempts,
  moved_at,
  holds,
  resolution,
  resolved_at,
  resolved_by,
  new_id
from "{prefix}_dead"
where dead_id > ?1
  and (?2 is null or subscription = ?2)
  and (?3 is null or reason = ?3)
  and (?4 is null or event_type = ?4)
  and (?5 is null or key = ?5)
  and (?6 or resolution is null)
order by dead_id
limit ?7;
