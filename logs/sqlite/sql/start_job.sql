-- ?1 what, ?2 selection, ?3 a second at most or null, ?4 by whom, ?5 now, ?6 how many it concerns, ?7 the last dead letter of all.
insert into "{prefix}_jobs" (what, selection, per_second, requested_by, requested_at, concerned, last_dead_id, next_at)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?5)
returning job_id;
