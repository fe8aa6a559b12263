-- So that a message can say which names there are.
select name
from "{prefix}_subscriptions"
order by name;
