-- ?1 id, ?2 bytes of a payload at most: in place of a larger one comes its size. An event that was sent again under another id is
-- found by both.
select position, case when octet_length(payload) <= ?2 then payload else octet_length(payload) end, headers
from "{prefix}"
where id = ?1
union all
select o.position, case when octet_length(o.payload) <= ?2 then o.payload else octet_length(o.payload) end, o.headers
from "{prefix}_dead" d
cross join "{prefix}" o on o.position = d.position
where d.new_id = ?1
limit 1;
