-- ?1 now. The job that has waited longest; then how far it is.
select job_id, what, selection, per_second, requested_by, requested_at, state, concerned, done, error, started_at, finished_at, last_dead_id, after_position, after_dead_id
from "{prefix}_jobs"
where finished_at is null
  and next_at <= ?1
order by next_at, job_id
limit 1;
