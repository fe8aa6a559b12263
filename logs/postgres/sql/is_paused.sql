-- $1 name.
select paused
from {subscriptions}
where name = $1;
