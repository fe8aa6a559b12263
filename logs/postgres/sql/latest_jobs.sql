-- The jobs that are not over, and the last ones that are, newest first.
select job_id, what, selection, per_second, requested_by, requested_at, state, concerned, done, error, started_at, finished_at
from (
  (select * from {jobs} where finished_at is null order by job_id desc limit 50)
  union
  (select * from {jobs} order by job_id desc limit 50)) latest
order by finished_at is not null, job_id desc
limit 50;
