-- $11 and $12 behind this position and dead letter, $13 up to this dead letter, $14 how many at most; the rest: see parts/dead_fits.sql. The next dead
-- letters of a job, in the order of the log; and their subscription, if it is not there any more. Whoever wants the same ones waits, and finds them
-- resolved.
select
  d.dead_id,
  d.position,
  (select d.subscription where not exists (select from {subscriptions} s where s.name = d.subscription))
from {dead} d
where d.resolution is null
  and d.dead_id > 0
  and (d.position, d.dead_id) > ($11, $12)
  and d.dead_id <= $13
  and {dead_fits}
order by d.position, d.dead_id
limit $14
for update of d;
