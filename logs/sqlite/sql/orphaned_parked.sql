-- ?1 how many to count. Parked events whose subscription is gone. From name to name, so that those of a subscription that is there are passed over.
with recursive names(name) as (
  select min(subscription) from "{prefix}_parked"
  union all
  select (select min(p.subscription) from "{prefix}_parked" p where p.subscription > names.name)
  from names
  where names.name is not null
)
select count(*)
from (
  select 1
  from names
  cross join "{prefix}_parked" p on p.subscription = names.name
  where names.name not in (select s.name from "{prefix}_subscriptions" s)
  limit ?1);
