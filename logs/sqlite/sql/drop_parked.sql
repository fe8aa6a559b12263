-- ?1 subscription.
delete from "{prefix}_parked"
where subscription = ?1;
