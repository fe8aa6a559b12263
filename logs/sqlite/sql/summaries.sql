-- ?1 positions as a JSON array. Newest first.
select o.position, o.id, o.event_type, o.topic, o.key, o.lane, o.created_at
from json_each(?1) page
cross join "{prefix}" o on o.position = page.value
order by o.position desc;
