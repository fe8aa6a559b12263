-- So that a message can say which names there are.
select name
from {subscriptions}
order by name;
