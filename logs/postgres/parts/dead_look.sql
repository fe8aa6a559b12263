-- $2 subscription or null, $11 also the resolved ones, $12 behind this one, $13 up to this one, $14 how many at most: the dead letters that one page
-- looks at, in order. Only one of the three has any. (What is always so about dead_id lets them use
-- their indexes.)
(select d.dead_id
  from {dead} d
  where $11::boolean and d.dead_id > $12 and d.dead_id <= $13
  order by d.dead_id
  limit $14)
  union all
  (select d.dead_id
  from {dead} d
  where not $11 and $2::text is null and d.resolution is null and d.dead_id > 0 and d.dead_id > $12 and d.dead_id <= $13
  order by d.dead_id
  limit $14)
  union all
  (select d.dead_id
  from {dead} d
  where not $11 and d.subscription = $2 and d.resolution is null and d.dead_id > -1 and d.dead_id > $12 and d.dead_id <= $13
  order by d.dead_id
  limit $14)
