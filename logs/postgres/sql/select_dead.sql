-- $1 dead_ids. Of these the unresolved ones, a subscription of theirs that was dropped, and the one they are all of, if it is one. Whoever wants the
-- same ones waits, and finds them resolved. ("coalesce": by their ids, and not by the index of all that are unresolved.)
select
  coalesce(array_agg(dead_id), array[]::bigint[]),
  min(subscription) filter (where not exists (select from {subscriptions} s where s.name = subscription)),
  case when min(subscription) = max(subscription) then min(subscription) end
from (
  select dead_id, subscription
  from {dead}
  where dead_id = any ($1::bigint[])
    and coalesce(resolution, '') = ''
  order by dead_id
  for update) selected;
