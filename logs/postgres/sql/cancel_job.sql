-- $1 job_id, $2 now or null. Behind whoever carries out a part of it.
update {jobs}
set state = 'cancelled', finished_at = coalesce($2, statement_timestamp())
where job_id = $1
  and finished_at is null;
