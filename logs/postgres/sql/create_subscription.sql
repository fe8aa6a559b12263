-- $1 name, $2 filter, $3 order, $4 start, $5 from, $6 to, $7 after, $8 now or null. In one transaction with its first lines. Its numbers were
-- never used, so that whoever served one of this name before it was dropped cannot meet one of its own by chance.
insert into {subscriptions} (
  name, filter, event_order, start, started_from, started_to, started_after, created_at, generation, first_line)
values (
  $1, $2, $3, $4, $5, $6, $7, coalesce($8, statement_timestamp()),
  1 + coalesce((select value::bigint from {meta} where name = 'dropped_generation'), 0),
  1 + coalesce((select value::bigint from {meta} where name = 'dropped_line'), 0))
returning generation;
