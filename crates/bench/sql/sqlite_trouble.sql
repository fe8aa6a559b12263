-- What is left of two bad hours, in the subscription billing: of every hundred events one is a dead letter, with one of ten errors, or every twentieth time one
-- of its own; of every twenty thousand one waits for a retry, and one for its time. And what the journal tells of it, and operators' acts and jobs.
create temp table bad_hours as
select max(position) as last, cast(unixepoch('now') as integer) * 1000000 as now from outbox;

with recursive numbers(p) as (
  values (100)
  union all
  select p + 100 from numbers where p + 100 <= (select last from bad_hours)
),
errors(p, error) as (
  select p, case
    when p / 100 % 20 = 0 then 'order ' || p || ' is not known to billing'
    else 'the server answered 50' || (p / 100 % 10) || ': upstream connect error or disconnect before headers'
      || replace(printf('%.20c', '.'), '.', char(10) || '  at a frame')
  end
  from numbers
)
insert into outbox_dead (
  subscription, position, lane, id, key, event_type, event_version, topic, aggregate_type, aggregate_id, tenant_id, content_type,
  occurred_at, checked, payload, reason, error, error_line, attempts, holds, moved_at)
select
  'billing', o.position, o.lane, o.id, o.key, o.event_type, o.event_version, o.topic, o.aggregate_type, o.aggregate_id,
  o.tenant_id, o.content_type, o.occurred_at, 1, o.payload,
  case p / 100 % 5 when 0 then 'max_retries_exceeded' when 1 then 'poison_message' when 2 then 'schema_validation_failed'
    when 3 then 'processing_timeout' else 'permanent_failure' end,
  e.error,
  case when instr(e.error, char(10)) > 0 then substr(e.error, 1, instr(e.error, char(10)) - 1) else e.error end,
  10,
  p / 100 % 50 = 0,
  b.now - (b.last - p) * (7200000000 / b.last)
from bad_hours b
cross join errors e
cross join outbox o on o.position = e.p;

with recursive numbers(p) as (
  values (2001)
  union all
  select p + 5000 from numbers where p + 5000 <= (select last from bad_hours)
)
insert into outbox_dead (
  subscription, position, lane, id, key, event_type, event_version, topic, content_type, occurred_at, checked, payload, reason, error,
  error_line, attempts, holds, moved_at, resolution, resolved_at, resolved_by)
select
  'billing', o.position, o.lane, o.id, o.key, o.event_type, o.event_version, o.topic, o.content_type, o.occurred_at, 1, o.payload,
  'permanent_failure', 'refused', 'refused', 1, 0, b.now, 'discarded', b.now, 'ada'
from bad_hours b
cross join numbers
cross join outbox o on o.position = numbers.p;

with recursive numbers(p) as (
  values (7)
  union all
  select p + 10000 from numbers where p + 10000 <= (select last from bad_hours)
)
insert into outbox_parked (
  subscription, position, lane, id, key, event_type, event_version, topic, content_type, occurred_at, checked, payload, attempts, due_at,
  delayed, last_error, first_attempt_at, last_attempt_at)
select
  'billing', o.position, o.lane, o.id, o.key, o.event_type, o.event_version, o.topic, o.content_type, o.occurred_at, 1, o.payload,
  case when p % 20000 = 7 then 0 else 3 end,
  b.now + 3600000000,
  p % 20000 = 7,
  case when p % 20000 = 7 then null else 'the server answered 503' end,
  b.now,
  b.now
from bad_hours b
cross join numbers
cross join outbox o on o.position = numbers.p;

insert into outbox_journal (at, what, subscription, position, id, attempt, detail, done_by, took)
select moved_at, 'dead', subscription, position, id, attempts, error, 'bench', 1500
from outbox_dead
order by dead_id;

with recursive numbers(n) as (
  values (1)
  union all
  select n + 1 from numbers where n < 500
)
insert into outbox_journal (at, what, subscription, detail, done_by, concerned)
select b.now, case n % 2 when 0 then 'paused' else 'resumed' end, 'billing', null, 'ada', 1
from bad_hours b
cross join numbers;

with recursive numbers(n) as (
  values (1)
  union all
  select n + 1 from numbers where n < 100
)
insert into outbox_jobs (what, selection, requested_by, requested_at, state, concerned, done, last_dead_id, next_at, started_at, finished_at)
select 'replay', '{}', 'ada', b.now, 'done', 10, 10, 1, b.now, b.now, b.now
from bad_hours b
cross join numbers;

drop table bad_hours;
