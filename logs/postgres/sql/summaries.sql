-- $1 positions. Newest first.
select o.position, o.id, o.event_type, o.topic, o.key, o.lane, o.created_at
from unnest($1::bigint[]) page (position)
join {log} o on o.position = page.position
order by o.position desc;
