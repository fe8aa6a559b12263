-- ?11 also the resolved ones, ?12 behind this one, ?13 up to this one, ?14 how many at most: the dead letters that one page looks at, in
-- order. Only one of the three has any.
select dead_id
    from (
      select d.dead_id
      from "{prefix}_dead" d
      where ?11 and d.dead_id > ?12 and d.dead_id <= ?13
      order by d.dead_id
      limit ?14)
    union all
    select dead_id
    from (
      select d.dead_id
      from "{prefix}_dead" d indexed by "{prefix}_dead_unresolved"
      where not ?11 and ?2 is null and d.resolution is null and d.dead_id > ?12 and d.dead_id <= ?13
      order by d.dead_id
      limit ?14)
    union all
    select dead_id
    from (
      select d.dead_id
      from "{prefix}_dead" d indexed by "{prefix}_dead_waiting"
      where not ?11 and d.subscription = ?2 and d.resolution is null and d.dead_id > ?12 and d.dead_id <= ?13
      order by d.dead_id
      limit ?14)
