-- $1 name.
select filter, event_order, generation
from {subscriptions}
where name = $1;
