-- $1 subscription, $2 now or null, $3 relay, $4 rows as a JSON array. With a copy of the event, which may be pruned long before a person
-- looks. Parked it is no more. What could not be understood, or was too large to be loaded, was not read as it is: the dead letter has it
-- from where it was read, so that nothing is lost when the event is pruned, and a replay sends nothing that was made up here.
-- How what is parked is looked up: see unpark.sql.
with
clock(now) as materialized (
  select coalesce($2, statement_timestamp())
),
wanted as materialized (
  select *
  from json_to_recordset($4::text::json) as e (
    position bigint, lane smallint, attempts integer, reason text, error text, holds boolean, took bigint, {record})
),
gone as (
  delete from {parked}
  where ctid = any (array(
    select found.ctid
    from wanted
    cross join lateral (
      select p.ctid
      from {parked} p
      where p.subscription = $1 and p.position between wanted.position and wanted.position
      order by p.position
      offset 0) found))
),
kept_as_stored as (
  insert into {dead} (subscription, position, lane, attempts, reason, error, holds, moved_at, {event})
  select $1, e.position, e.lane, e.attempts, e.reason, e.error, e.holds, clock.now, stored.*
  from wanted e
  cross join clock
  cross join lateral (
    (select {event}
    from {parked} p
    where p.subscription = $1 and p.position between e.position and e.position
    order by p.position
    offset 0)
    union all
    select {event}
    from {log} o
    where o.position = e.position
      and not exists (
        select from {parked} p
        where p.subscription = $1 and p.position between e.position and e.position
        order by p.position
        offset 0)) stored
  where e.reason = 'poison_message'
  order by e.position
  returning position
),
buried as (
  insert into {dead} (subscription, position, lane, attempts, reason, error, holds, moved_at, {event})
  select $1, e.position, e.lane, e.attempts, e.reason, e.error, e.holds, clock.now, {from_record}
  from wanted e
  cross join clock
  where e.position not in (select position from kept_as_stored)
  order by e.position
)
insert into {journal} (at, what, subscription, position, id, attempt, detail, done_by, took)
select clock.now, 'dead', $1, e.position, e.id, e.attempts, e.reason || ': ' || e.error, $3, e.took
from wanted e
cross join clock
order by e.position;
