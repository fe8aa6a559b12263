-- ?1 name.
select paused
from "{prefix}_subscriptions"
where name = ?1;
