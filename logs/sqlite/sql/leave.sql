-- ?1 relay.
delete from "{prefix}_relays"
where relay = ?1;
