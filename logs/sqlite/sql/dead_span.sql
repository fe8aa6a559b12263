-- ?1 died since, ?2 died before. The first and the last dead letter of that time; null if there is none.
select
  (select min(dead_id) from "{prefix}_dead" where moved_at >= ?1),
  (select max(dead_id) from "{prefix}_dead" where moved_at < ?2);
