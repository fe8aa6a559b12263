-- $1 dead_id. As find_dead.sql, for a look that locks nothing.
select resolution
from {dead}
where dead_id = $1;
