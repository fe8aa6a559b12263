-- ?1 subscription, ?2 positions as a JSON array. After the dead letters were written, before the parked rows go. What could not be
-- understood, or was too large to be loaded, was not read as it is: the dead letter has it from where it was read, so that nothing
-- is lost when the event is pruned, and a replay sends nothing that was made up here.
update "{prefix}_dead"
set (payload, headers, retry, checked) = (
  select p.payload, p.headers, p.retry, 0
  from "{prefix}_parked" p
  where p.subscription = ?1 and p.position = "{prefix}_dead".position
  union all
  select o.payload, o.headers, o.retry, 0
  from "{prefix}" o
  where o.position = "{prefix}_dead".position
  limit 1)
where dead_id in (
    select (select max(d.dead_id) from "{prefix}_dead" d where d.subscription = ?1 and d.position = poison.value)
    from json_each(?2) poison)
  -- Somebody has removed it by hand: then what was read is all there is.
  and (exists (select 1 from "{prefix}" o where o.position = "{prefix}_dead".position)
    or exists (
      select 1 from "{prefix}_parked" p where p.subscription = ?1 and p.position = "{prefix}_dead".position));
