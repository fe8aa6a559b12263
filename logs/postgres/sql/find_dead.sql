-- $1 dead_id. Whoever wants the same one waits, and finds it resolved.
select resolution, resolved_by, content_type
from {dead}
where dead_id = $1
for update;
