-- ?1 name, ?2 filter, ?3 order, ?4 start, ?5 where it begins, ?6 now. In one transaction with its first lines. Its numbers were never used,
-- so that whoever served one of this name before it was dropped cannot meet one of its own by chance.
insert into "{prefix}_subscriptions" (
  name, filter, event_order, start, started_after, created_at, generation, first_line)
values (
  ?1, ?2, ?3, ?4, ?5, ?6,
  1 + coalesce((select cast(value as integer) from "{prefix}_meta" where name = 'dropped_generation'), 0),
  1 + coalesce((select cast(value as integer) from "{prefix}_meta" where name = 'dropped_line'), 0))
returning generation;
