-- ?1 behind this position, ?2 before this position, ?3 rows at most; the rest: see parts/event_fits.sql. In the order of the log.
select json_group_array(position)
from (
  select o.position
  from "{prefix}" o
  where o.position > ?1
    and o.position < ?2
    and {event_fits}
  order by o.position
  limit ?3);
