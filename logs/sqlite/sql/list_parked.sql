-- ?1 before this position, ?2 type, ?3 topic, ?4 key (each or null), ?5 rows at most, ?6 subscription,
-- ?7 whether the delayed ones are meant, or the others, ?8 now. By what is parked, so that a long log costs nothing.
select json_group_array(position)
from (
  select p.position
  from "{prefix}_parked" p
  cross join "{prefix}" o on o.position = p.position
  where p.subscription = ?6
    and p.position < ?1
    and (p.delayed = 1 and p.due_at > ?8) = ?7
    and (?2 is null or o.event_type = ?2)
    and (?3 is null or o.topic = ?3)
    and (?4 is null or o.key = ?4)
  order by p.position desc
  limit ?5);
