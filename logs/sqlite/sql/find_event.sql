-- ?1 id. An event that was sent again under another id is found by both.
select position, payload, headers
from "{prefix}"
where id = ?1
union all
select o.position, o.payload, o.headers
from "{prefix}_dead" d
cross join "{prefix}" o on o.position = d.position
where d.new_id = ?1
limit 1;
