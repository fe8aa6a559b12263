-- ?1 behind this position, ?2 before this position, ?3 rows at most, ?12 subscription, ?13 word; the rest: see parts/event_fits.sql.
-- For words that most events have at one time or another; newest first.
select json_group_array(position)
from (
  select o.position
  from "{prefix}" o
  cross join "{prefix}_standing" standing on standing.position = o.position and standing.subscription = ?12
  where o.position > ?1
    and o.position < ?2
    and {event_fits}
    and standing.word = ?13
  order by o.position desc
  limit ?3);
