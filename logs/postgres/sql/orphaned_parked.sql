-- $1 how many to count. Parked events whose subscription is gone. From name to name, so that those of a subscription that is there are passed over.
with recursive names (name) as (
  (select p.subscription from {parked} p order by p.subscription limit 1)
  union all
  select (select p.subscription from {parked} p where p.subscription > names.name order by p.subscription limit 1)
  from names
  where names.name is not null
)
select count(*)
from (
  select from names
  cross join lateral (select from {parked} p where p.subscription = names.name offset 0) orphan
  where not exists (select from {subscriptions} s where s.name = names.name)
  limit $1) orphaned;
