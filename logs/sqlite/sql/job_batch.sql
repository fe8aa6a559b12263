-- ?11 and ?12 behind this position and dead letter, ?13 up to this dead letter, ?14 how many at most; the rest: see parts/dead_fits.sql. The next
-- dead letters of a job, in the order of the log; and their subscription, if it is not there any more.
select
  d.dead_id,
  d.position,
  case when not exists (select 1 from "{prefix}_subscriptions" s where s.name = d.subscription) then d.subscription end
from "{prefix}_dead" d indexed by "{prefix}_dead_order"
where d.resolution is null
  and (d.position, d.dead_id) > (?11, ?12)
  and d.dead_id <= ?13
  and {dead_fits}
order by d.position, d.dead_id
limit ?14;
