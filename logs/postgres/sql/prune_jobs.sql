-- $1 over before, $2 how many at most.
delete from {jobs}
where job_id = any (array(
  select job_id
  from {jobs}
  where finished_at < $1
  order by finished_at
  limit $2));
