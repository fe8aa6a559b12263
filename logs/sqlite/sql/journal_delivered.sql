-- ?1 subscription, ?2 relay, ?3 now, ?4 positions as a JSON array. Before the rows go: only they know how often it had failed. The line
-- that passed such an event only parked it, so that nothing else tells when it was delivered.
insert into "{prefix}_journal" (at, what, subscription, position, id, attempt, done_by)
select ?3, 'delivered', ?1, p.position, p.id, p.attempts + 1, ?2
from json_each(?4) going
cross join "{prefix}_parked" p on p.subscription = ?1 and p.position = going.value;
