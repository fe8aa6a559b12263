-- ?1 ids as a JSON array. Of these the unresolved ones, how many, a subscription of theirs that was dropped, and the one they are all of,
-- if it is one.
select
  json_group_array(dead_id),
  count(*),
  min(case when not exists (select 1 from "{prefix}_subscriptions" s where s.name = subscription) then subscription end),
  case when min(subscription) = max(subscription) then min(subscription) end
from (
  select dead_id, subscription
  from "{prefix}_dead"
  where dead_id in (select value from json_each(?1))
    and resolution is null
  order by dead_id);
