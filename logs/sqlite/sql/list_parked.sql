-- ?1 behind this position, ?2 before this position, ?3 rows at most, ?12 subscription, ?13 whether the delayed ones are meant, or the others,
-- ?14 now; the rest: see parts/event_fits.sql. By what is parked, so that a long log costs nothing.
select json_group_array(position)
from (
  select p.position
  from "{prefix}_parked" p
  cross join "{prefix}" o on o.position = p.position
  where p.subscription = ?12
    and p.position > ?1
    and p.position < ?2
    and (p.delayed = 1 and p.due_at > ?14) = ?13
    and {event_fits}
  order by p.position desc
  limit ?3);
