-- $1 older than, $2 how many at most.
delete from {journal}
where journal_id = any (array(
  select journal_id
  from {journal}
  where at < $1
  order by at
  limit $2));
