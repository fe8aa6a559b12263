-- ?1 subscription, ?2 positions as a JSON array.
delete from "{prefix}_parked"
where subscription = ?1
  and position in (select value from json_each(?2));
