-- $1 dead_ids. As select_dead.sql, for a look that locks nothing.
select
  count(*),
  min(subscription) filter (where not exists (select from {subscriptions} s where s.name = subscription))
from {dead}
where dead_id = any ($1::bigint[])
  and coalesce(resolution, '') = '';
