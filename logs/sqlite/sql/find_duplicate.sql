-- ?1 topic, ?2 idempotency key. There is at most one: the index is unique.
select position, lane, id, version
from "{prefix}"
where topic = ?1
  and idempotency_key = ?2;
