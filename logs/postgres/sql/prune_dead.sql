-- $1 resolved before, $2 how many at most. While the log has the event its status is told by its dead letters; and what nobody has looked
-- at stays, however old.
delete from {dead}
where dead_id = any (array(
  select d.dead_id
  from {dead} d
  where d.resolved_at < $1
    and not exists (select from {log} o where o.position = d.position offset 0)
  order by d.resolved_at
  limit $2));
