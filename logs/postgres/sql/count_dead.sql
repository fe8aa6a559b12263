-- See parts/dead_counted.sql. How many unresolved ones fit, a subscription of theirs that was dropped, and the last dead letter of all. From the index alone.
select
  coalesce(sum(fitting.letters), 0)::bigint,
  min(fitting.subscription) filter (
    where not exists (select from {subscriptions} s where s.name = fitting.subscription)),
  (select coalesce(max(last.dead_id), 0) from {dead} last)
from (
  select d.subscription, count(*) as letters
  from {dead} d
  where d.resolution is null
    and d.dead_id + 0 > -2
    and {dead_counted}
  group by d.subscription) fitting;
