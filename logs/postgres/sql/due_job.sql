-- $1 now or null. The job that has waited longest and that no other relay works on; then how far it is.
select job_id, what, selection, per_second, requested_by, requested_at, state, concerned, done, error, started_at, finished_at, last_dead_id, after_position, after_dead_id
from {jobs}
where finished_at is null
  and next_at <= coalesce($1, statement_timestamp())
order by next_at, job_id
limit 1
for update skip locked;
