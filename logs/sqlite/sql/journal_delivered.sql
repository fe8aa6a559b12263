-- ?1 subscription, ?2 relay, ?3 now, ?4 positions as a JSON array. Before the rows go: only they know whether they had failed. A
-- success without a failure before it is told by the line.
insert into "{prefix}_journal" (at, what, subscription, position, id, attempt, done_by)
select ?3, 'delivered', ?1, p.position, p.id, p.attempts + 1, ?2
from json_each(?4) going
cross join "{prefix}_parked" p on p.subscription = ?1 and p.position = going.value
where p.last_error is not null;
