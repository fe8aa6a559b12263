-- $1 dead_ids, $2 now or null. As new, due now. The error stays, so that its delivery is written into the journal: it had failed before.
insert into {parked} (
  subscription, position, lane, attempts, due_at, delayed, last_error, first_attempt_at, last_attempt_at, {event})
select subscription, position, lane, 0, coalesce($2, statement_timestamp()), false, error, moved_at, moved_at, {event}
from {dead}
where dead_id = any ($1::bigint[])
order by dead_id
on conflict (subscription, position) do nothing;
