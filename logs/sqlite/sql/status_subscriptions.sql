-- ?1 now, ?2 since when dead letters are counted, ?3 how many parked rows, and how many of the last dead letters, are looked at one by one. One row a
-- subscription, by name: name, paused; how many are parked and how many of those wait for their time, both from the index alone; how many rows were
-- looked at and how many of them are in the way and have not failed; when the oldest that is in the way was written; unresolved dead letters, and those
-- that died since.
with died as materialized (
  select last.subscription, count(*) as letters
  from (
    select d.subscription
    from "{prefix}_dead" d indexed by "{prefix}_dead_moved"
    where d.moved_at >= ?2
    order by d.moved_at desc
    limit ?3) last
  group by last.subscription
)
select
  s.name,
  s.paused,
  (select json_array(count(*), count(case when p.delayed = 1 and p.due_at > ?1 then 1 end))
    from "{prefix}_parked" p indexed by "{prefix}_parked_key"
    where p.subscription = s.name),
  (select json_array(count(*), count(case when (looked.delayed = 0 or looked.due_at <= ?1) and looked.last_error is null then 1 end))
    from (select p.delayed, p.due_at, p.last_error from "{prefix}_parked" p where p.subscription = s.name order by p.position limit ?3) looked),
  (select o.created_at
    from "{prefix}_parked" p
    cross join "{prefix}" o on o.position = p.position
    where p.subscription = s.name and (p.delayed = 0 or p.due_at <= ?1)
    order by p.position
    limit 1),
  (select count(*) from "{prefix}_dead" d indexed by "{prefix}_dead_waiting" where d.subscription = s.name and d.resolution is null),
  coalesce((select died.letters from died where died.subscription = s.name), 0)
from "{prefix}_subscriptions" s
order by s.name;
