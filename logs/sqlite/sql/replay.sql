-- ?1 dead_ids as a JSON array, ?2 now. As new, due now. The error stays, so that its delivery is written into the journal: it
-- had failed before.
insert into "{prefix}_parked" (
  subscription, position, lane, attempts, due_at, delayed, last_error, first_attempt_at, last_attempt_at, {event})
select subscription, position, lane, 0, ?2, 0, error, moved_at, moved_at, {event}
from "{prefix}_dead"
where dead_id in (select value from json_each(?1))
on conflict (subscription, position) do nothing;
