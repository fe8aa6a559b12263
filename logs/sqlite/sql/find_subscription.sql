-- ?1 name.
select filter, event_order, generation
from "{prefix}_subscriptions"
where name = ?1;
