-- $1 name. In one transaction with its lines and what it has parked.
delete from {subscriptions}
where name = $1;
