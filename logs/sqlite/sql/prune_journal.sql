-- ?1 older than, ?2 how many at most.
delete from "{prefix}_journal"
where journal_id in (
  select journal_id
  from "{prefix}_journal"
  where at < ?1
  order by at
  limit ?2);
