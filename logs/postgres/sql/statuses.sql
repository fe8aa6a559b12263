-- $1 positions, $2 subscription or null for all, $3 now or null. Newest first, as the summaries. The last column: whether it waits for its
-- time. ("offset 0": the view is asked for one position at a time, whatever the planner thinks of it.)
select
  page.position,
  o.subscription,
  o.word,
  o.attempts,
  o.last_error,
  o.due_at,
  o.delayed and o.due_at > coalesce($3, statement_timestamp())
from unnest($1::bigint[]) page (position)
cross join lateral (
  select s.subscription, s.word, s.attempts, s.last_error, s.due_at, s.delayed
  from {standing} s
  where s.position = page.position
    and ($2::text is null or s.subscription = $2)
  offset 0) o
order by page.position desc, o.subscription;
