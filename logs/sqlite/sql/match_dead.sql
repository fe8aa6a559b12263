-- ?1 subscription, ?2 reason, ?3 type, ?4 key (each or null). All unresolved ones that fit, how many, and a subscription
-- of theirs that was dropped.
select
  json_group_array(dead_id),
  count(*),
  min(case when not exists (select 1 from "{prefix}_subscriptions" s where s.name = subscription) then subscription end)
from (
  select dead_id, subscription
  from "{prefix}_dead"
  where resolution is null
    and (?1 is null or subscription = ?1)
    and (?2 is null or reason = ?2)
    and (?3 is null or event_type = ?3)
    and (?4 is null or key = ?4)
  order by dead_id);
