-- $1 positions, $2 subscription or null for all, $3 now or null. Newest first, as the summaries. The last columns: whether it waits for its time; and
-- the first event of its key that is in the way, if it has to wait for any ("+ 0": by the index of keys, and not by that of positions).
-- ("offset 0": the view is asked for one position at a time, whatever the planner thinks of it.)
select
  page.position,
  o.subscription,
  o.word,
  o.attempts,
  o.last_error,
  o.due_at,
  o.delayed and o.due_at > coalesce($3, statement_timestamp()),
  case when o.word in ('pending', 'parked') and o.key is not null and o.event_order = 'key' then least(
    (select min(p.position + 0)
      from {parked} p
      where p.subscription = o.subscription and p.lane = o.lane and p.key = o.key and not p.delayed
        and p.position + 0 < page.position),
    (select min(p.position + 0)
      from {parked} p
      where p.subscription = o.subscription and p.lane = o.lane and p.key = o.key and p.delayed
        and p.due_at <= coalesce($3, statement_timestamp()) and p.position + 0 < page.position),
    (select min(d.position + 0)
      from {dead} d
      where d.subscription = o.subscription and d.lane = o.lane and d.key = o.key and d.resolution is null and d.holds
        and d.position < page.position))
  end
from unnest($1::bigint[]) page (position)
cross join lateral (
  select s.subscription, s.word, s.attempts, s.last_error, s.due_at, s.delayed, s.key, s.lane, named.event_order
  from {standing} s
  join {subscriptions} named on named.name = s.subscription
  where s.position = page.position
    and ($2::text is null or s.subscription = $2)
  offset 0) o
order by page.position desc, o.subscription;
