-- $1 subscription.
delete from {lines}
where subscription = $1;
