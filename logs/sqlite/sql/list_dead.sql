-- ?1 behind this position, ?2 before this position, ?3 rows at most, ?12 subscription; the rest: see parts/event_fits.sql.
-- By the dead letters, so that a long log costs nothing. An event that died twice is one event.
select json_group_array(position)
from (
  select o.position
  from "{prefix}" o
  cross join "{prefix}_standing" standing on standing.position = o.position and standing.subscription = ?12
  where o.position in (
      select d.position
      from "{prefix}_dead" d
      where d.subscription = ?12 and d.position > ?1 and d.position < ?2)
    and standing.word = 'dead'
    and {event_fits}
  order by o.position desc
  limit ?3);
