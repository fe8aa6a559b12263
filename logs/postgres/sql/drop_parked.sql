-- $1 subscription.
delete from {parked}
where subscription = $1;
