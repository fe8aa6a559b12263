-- ?1 job_id, ?2 now.
update "{prefix}_jobs"
set state = 'cancelled', finished_at = ?2
where job_id = ?1
  and finished_at is null;
