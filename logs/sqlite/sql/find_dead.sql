-- ?1 dead_id.
select resolution, resolved_by, content_type
from "{prefix}_dead"
where dead_id = ?1;
