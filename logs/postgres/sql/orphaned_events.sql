-- $1 lanes that have no line, $2 how many to count. Asked only if there are such lanes.
select count(*)
from (
  select from {log} o
  where {lane}(o.key, o.id) = any ($1::smallint[])
  limit $2) orphaned;
