-- ?1 dead_ids as a JSON array, ?2 resolution, ?3 now, ?4 by whom, ?5 new id or null. Once: a second click does nothing.
update "{prefix}_dead"
set resolution = ?2, resolved_at = ?3, resolved_by = ?4, new_id = ?5
where dead_id in (select value from json_each(?1))
  and resolution is null;
