-- ?1 subscription, ?2 cursor, ?3 now, ?4 by whom. The log will yield these again; what was pruned from it waits for a person as before.
update "{prefix}_dead"
set resolution = 'reset', resolved_at = ?3, resolved_by = ?4
where subscription = ?1
  and resolution is null
  and position > ?2
  and exists (select 1 from "{prefix}" o where o.position = "{prefix}_dead".position);
