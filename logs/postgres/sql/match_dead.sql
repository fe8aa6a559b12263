-- $1 subscription, $2 reason, $3 type, $4 key (each or null). All unresolved ones that fit, and a subscription of theirs that was
-- dropped. Whoever wants the same ones waits, and finds them resolved.
select
  coalesce(array_agg(dead_id), array[]::bigint[]),
  min(subscription) filter (where not exists (select from {subscriptions} s where s.name = subscription))
from (
  select dead_id, subscription
  from {dead}
  where resolution is null
    and ($1::text is null or subscription = $1)
    and ($2::text is null or reason = $2)
    and ($3::text is null or event_type = $3)
    and ($4::text is null or key = $4)
  order by dead_id
  for update) selected;
