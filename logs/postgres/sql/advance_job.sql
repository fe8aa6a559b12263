-- $1 job_id, $2 now or null, $3 state, $4 how many more are done, $5 and $6 position and dead letter of the last, $7 in how many microseconds the next is
-- due, $8 error or null.
update {jobs}
set
  state = $3,
  done = done + $4,
  after_position = $5,
  after_dead_id = $6,
  next_at = coalesce($2, statement_timestamp()) + $7 * interval '1 microsecond',
  error = $8,
  started_at = coalesce(started_at, $2, statement_timestamp()),
  finished_at = case when $3 <> 'running' then coalesce($2, statement_timestamp()) end
where job_id = $1;
