-- $1 subscription, $2 now or null. The relays that hold lanes and whose lease has not ended.
select distinct r.relay
from {cursors} c
join {relays} r on r.relay = c.relay
where c.subscription = $1
  and c.kind in ('taken', 'settled')
  and r.held_until >= coalesce($2, statement_timestamp())
order by r.relay;
