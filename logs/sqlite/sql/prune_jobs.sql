-- ?1 over before, ?2 how many at most.
delete from "{prefix}_jobs"
where job_id in (
  select job_id
  from "{prefix}_jobs"
  where finished_at < ?1
  order by finished_at
  limit ?2);
