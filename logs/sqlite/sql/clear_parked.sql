-- ?1 dead_ids as a JSON array. What is sent again takes the place of what may be parked there.
delete from "{prefix}_parked"
where (subscription, position) in (
  select d.subscription, d.position
  from "{prefix}_dead" d
  where d.dead_id in (select value from json_each(?1)));
