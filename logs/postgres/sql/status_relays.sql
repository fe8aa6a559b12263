-- $1 now or null. The relays whose lease has not ended.
select relay, host, version, subscriptions, started_at, held_until
from {relays}
where held_until >= coalesce($1, statement_timestamp())
order by relay;
