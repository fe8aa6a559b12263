-- ?1 died since, ?2 died before. The first and the last dead letter of that time; null if there is none. ("+ 0": by the index of
-- times, and not letter by letter from the first.)
select
  (select min(dead_id + 0) from "{prefix}_dead" where moved_at >= ?1),
  (select max(dead_id + 0) from "{prefix}_dead" where moved_at < ?2);
