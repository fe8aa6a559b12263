-- $1 now or null, $2 how many parked rows, and how many of the last dead letters, are looked at one by one. One row a subscription, by name: name,
-- paused; how many are parked, and how many of those wait for their time; how many rows were looked at, and how many of them are in the way and have not
-- failed; when the oldest that is in the way was written; unresolved dead letters, and those that died in the last hour.
with died as materialized (
  select last.subscription, count(*) as letters
  from (
    select d.subscription
    from {dead} d
    where d.moved_at >= coalesce($1, statement_timestamp()) - interval '1 hour'
    order by d.moved_at desc
    limit $2) last
  group by last.subscription
)
select
  s.name,
  s.paused,
  parked.events,
  parked.delayed,
  looked.events,
  looked.behind,
  (select (select o.created_at from {log} o where o.position = p.position)
    from {parked} p
    where p.subscription = s.name
      and not (p.delayed and p.due_at > coalesce($1, statement_timestamp()))
      and exists (select from {log} o where o.position = p.position offset 0)
    order by p.position
    limit 1),
  (select count(*) from {dead} d where d.subscription = s.name and d.resolution is null and d.dead_id > -1),
  coalesce((select died.letters from died where died.subscription = s.name), 0)
from {subscriptions} s
cross join lateral (
  select
    count(*) as events,
    count(*) filter (where p.delayed and p.due_at > coalesce($1, statement_timestamp())) as delayed
  from {parked} p
  where p.subscription = s.name) parked
cross join lateral (
  select
    count(*) as events,
    count(*) filter (
      where not (first.delayed and first.due_at > coalesce($1, statement_timestamp())) and first.last_error is null) as behind
  from (
    select p.delayed, p.due_at, p.last_error
    from {parked} p
    where p.subscription = s.name
    order by p.position
    limit $2) first) looked
order by s.name;
