-- $1 now or null.
select relay
from {relays}
where held_until >= coalesce($1, statement_timestamp())
order by relay;
