-- ?1 subscription, ?2 cursor. The log will yield these again; left here they would go twice, or stop their key. What was pruned from
-- the log stays: it is nowhere else.
delete from "{prefix}_parked"
where subscription = ?1
  and position > ?2
  and exists (select 1 from "{prefix}" o where o.position = "{prefix}_parked".position);
