-- $1 relay.
delete from {relays}
where relay = $1;
