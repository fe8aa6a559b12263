-- ?1 now. The relays whose lease has not ended.
select relay, host, version, subscriptions, started_at, held_until
from "{prefix}_relays"
where held_until >= ?1
order by relay;
