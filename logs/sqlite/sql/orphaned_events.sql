-- ?1 lanes that have no line, as a JSON array, ?2 how many to count. Asked only if there are such lanes.
select count(*)
from (
  select 1
  from "{prefix}" o
  where o.lane in (select value from json_each(?1))
  limit ?2);
