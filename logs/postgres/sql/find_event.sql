-- $1 bytes of a payload at most, $2 id. Of a payload that is larger only the size is told. An event that was sent again under another id
-- is found by both.
select o.position, {payload}, o.headers
from {log} o
where o.position = coalesce(
  (select e.position from {log} e where e.id = $2),
  (select d.position from {dead} d where d.new_id = $2 limit 1));
