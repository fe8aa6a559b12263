-- ?1 subscription, ?2 relay, ?3 now, ?4 [[position, took], …]. After the dead letters were written.
insert into "{prefix}_journal" (at, what, subscription, position, id, attempt, detail, done_by, took)
select ?3, 'dead', ?1, d.position, d.id, d.attempts, d.reason || ': ' || d.error, ?2, dead.value ->> 1
from json_each(?4) dead
cross join "{prefix}_dead" d on d.dead_id = (
  select max(latest.dead_id)
  from "{prefix}_dead" latest
  where latest.subscription = ?1 and latest.position = (dead.value ->> 0));
