-- $2 subscription or null, $11 also the resolved ones, $12 behind this one, $13 up to this one, $14 how many to look at. The last one of as many, where a
-- page has to end; nothing if there are fewer. (The driver says what the other parameters would be.)
select max(looked.dead_id)
from (
  {dead_look}) looked
having count(*) >= $14;
