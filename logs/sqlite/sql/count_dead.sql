-- See parts/dead_fits.sql. How many unresolved ones fit, a subscription of theirs that was dropped, and the last dead letter of all.
-- From the index alone.
select
  count(*),
  min(case when not exists (select 1 from "{prefix}_subscriptions" s where s.name = d.subscription) then d.subscription end),
  (select coalesce(max(last.dead_id), 0) from "{prefix}_dead" last)
from "{prefix}_dead" d indexed by "{prefix}_dead_groups"
where d.resolution is null
  and {dead_fits};
