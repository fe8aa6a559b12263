-- $1 dead_ids, $2 resolution, $3 now or null, $4 by whom, $5 new id or null. Once: a second click does nothing.
-- ("coalesce": see select_dead.sql.)
update {dead}
set resolution = $2, resolved_at = coalesce($3, statement_timestamp()), resolved_by = $4, new_id = $5
where dead_id = any ($1::bigint[])
  and coalesce(resolution, '') = '';
