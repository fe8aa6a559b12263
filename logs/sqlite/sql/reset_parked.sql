-- ?1 subscription, ?2 cursor. The log will yield these again; left here they would go twice, or stop their key.
delete from "{prefix}_parked"
where subscription = ?1
  and position > ?2;
