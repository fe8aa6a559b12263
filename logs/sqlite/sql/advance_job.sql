-- ?1 job_id, ?2 now, ?3 state, ?4 how many more are done, ?5 and ?6 position and dead letter of the last, ?7 when the next is due, ?8 error or null.
update "{prefix}_jobs"
set
  state = ?3,
  done = done + ?4,
  after_position = ?5,
  after_dead_id = ?6,
  next_at = ?7,
  error = ?8,
  started_at = coalesce(started_at, ?2),
  finished_at = case when ?3 = 'running' then null else ?2 end
where job_id = ?1;
