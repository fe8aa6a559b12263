-- ?1 resolved before, ?2 how many at most. While the log has the event its status is told by its dead letters; and what nobody has
-- looked at stays, however old.
delete from "{prefix}_dead"
where dead_id in (
  select d.dead_id
  from "{prefix}_dead" d
  where d.resolved_at < ?1
    and not exists (select 1 from "{prefix}" o where o.position = d.position)
  order by d.resolved_at
  limit ?2);
