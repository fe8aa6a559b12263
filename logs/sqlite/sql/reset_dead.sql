-- ?1 subscription, ?2 cursor, ?3 now, ?4 by whom. The log will yield these again.
update "{prefix}_dead"
set resolution = 'reset', resolved_at = ?3, resolved_by = ?4
where subscription = ?1
  and resolution is null
  and position > ?2;
