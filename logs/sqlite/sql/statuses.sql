-- ?1 positions as a JSON array, ?2 subscription or null for all, ?3 now. Newest first, as the summaries.
-- The last column: the first event of its key that is in the way, if it has to wait for any.
select
  o.position,
  o.subscription,
  o.word,
  o.attempts,
  o.last_error,
  o.due_at,
  o.delayed,
  case when o.word in ('pending', 'parked') and o.key is not null and s.event_order = 'key' then (
    select min(head.position)
    from (
      select min(p.position) as position
      from "{prefix}_parked" p
      where p.subscription = o.subscription and p.lane = o.lane and p.key = o.key and p.delayed = 0
        and p.position < o.position
      union all
      select min(p.position)
      from "{prefix}_parked" p
      where p.subscription = o.subscription and p.lane = o.lane and p.key = o.key and p.delayed = 1
        and p.due_at <= ?3 and p.position < o.position
      union all
      select min(d.position)
      from "{prefix}_dead" d
      where d.subscription = o.subscription and d.lane = o.lane and d.key = o.key and d.resolution is null
        and d.holds = 1 and d.position < o.position) head)
  end
from json_each(?1) page
cross join "{prefix}_standing" o on o.position = page.value
cross join "{prefix}_subscriptions" s on s.name = o.subscription
where ?2 is null or o.subscription = ?2
order by o.position desc, o.subscription;
