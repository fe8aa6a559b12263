-- ?1 job_id.
select job_id, what, selection, per_second, requested_by, requested_at, state, concerned, done, error, started_at, finished_at
from "{prefix}_jobs"
where job_id = ?1;
