-- $1 [[topic, idempotency key], …]. Answers [[topic, key, id, position, lane, version], …] of those that are in the log.
select coalesce(json_agg(json_build_array(o.topic, o.idempotency_key, o.id, o.position, o.lane, o.version)), '[]')::text
from json_array_elements($1::text::json) asked (pair)
cross join lateral (
  select l.topic, l.idempotency_key, l.id, l.position, {lane}(l.key, l.id) as lane, l.version
  from {log} l
  where l.topic = asked.pair ->> 0 and l.idempotency_key = asked.pair ->> 1
  offset 0) o;
