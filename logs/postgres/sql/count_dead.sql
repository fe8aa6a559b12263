-- See parts/dead_fits.sql. How many unresolved ones fit, a subscription of theirs that was dropped, and the last dead letter of all.
select
  count(*),
  min(d.subscription) filter (where not exists (select from {subscriptions} s where s.name = d.subscription)),
  (select coalesce(max(last.dead_id), 0) from {dead} last)
from {dead} d
where d.resolution is null
  and d.dead_id > 0
  and {dead_fits};
