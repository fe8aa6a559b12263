-- ?1 subscription, ?2 relay, ?3 now, ?4 [[position, took], …]. After the rows were parked: they say what failed.
insert into "{prefix}_journal" (at, what, subscription, position, id, attempt, detail, done_by, took)
select ?3, 'failed', ?1, p.position, p.id, p.attempts, p.last_error, ?2, failed.value ->> 1
from json_each(?4) failed
cross join "{prefix}_parked" p on p.subscription = ?1 and p.position = (failed.value ->> 0);
