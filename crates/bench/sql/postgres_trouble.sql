-- What is left of two bad hours, in the subscription billing: of every hundred events one is a dead letter, with one of ten errors, or every twentieth time one
-- of its own; of every twenty thousand one waits for a retry, and one for its time. And what the journal tells of it, and operators' acts and jobs.
insert into outbox_dead (
  subscription, position, lane, id, key, event_type, event_version, topic, aggregate_type, aggregate_id, tenant_id, content_type,
  occurred_at, checked, payload, reason, error, attempts, holds, moved_at)
select
  'billing', o.position, outbox_lane(o.key, o.id), o.id, o.key, o.event_type, o.event_version, o.topic, o.aggregate_type, o.aggregate_id,
  o.tenant_id, o.content_type, o.occurred_at, true, o.payload,
  (array['max_retries_exceeded', 'poison_message', 'schema_validation_failed', 'processing_timeout', 'permanent_failure'])[
    1 + p / 100 % 5],
  case
    when p / 100 % 20 = 0 then 'order ' || p || ' is not known to billing'
    else 'the server answered 50' || p / 100 % 10 || ': upstream connect error or disconnect before headers' || repeat(e'\n  at a frame', 20)
  end,
  10,
  p / 100 % 50 = 0,
  now() - (bounds.last - p) * (interval '2 hours' / bounds.last)
from (select max(position) as last from outbox) bounds
cross join lateral generate_series(100, bounds.last, 100) p
join outbox o on o.position = p
order by p;

insert into outbox_dead (
  subscription, position, lane, id, key, event_type, event_version, topic, content_type, occurred_at, checked, payload, reason, error,
  attempts, holds, moved_at, resolution, resolved_at, resolved_by)
select
  'billing', o.position, outbox_lane(o.key, o.id), o.id, o.key, o.event_type, o.event_version, o.topic, o.content_type, o.occurred_at, true, o.payload,
  'permanent_failure', 'refused', 1, false, now(), 'discarded', now(), 'ada'
from generate_series(2001, (select max(position) from outbox), 5000) p
join outbox o on o.position = p
order by p;

insert into outbox_parked (
  subscription, position, lane, id, key, event_type, event_version, topic, content_type, occurred_at, checked, payload, attempts, due_at,
  delayed, last_error, first_attempt_at, last_attempt_at)
select
  'billing', o.position, outbox_lane(o.key, o.id), o.id, o.key, o.event_type, o.event_version, o.topic, o.content_type, o.occurred_at, true, o.payload,
  case when p % 20000 = 7 then 0 else 3 end,
  now() + interval '1 hour',
  p % 20000 = 7,
  case when p % 20000 = 7 then null else 'the server answered 503' end,
  now(), now()
from generate_series(7, (select max(position) from outbox), 10000) p
join outbox o on o.position = p;

insert into outbox_journal (at, what, subscription, position, id, attempt, detail, done_by, took)
select moved_at, 'dead', subscription, position, id, attempts, error, 'bench', 1500
from outbox_dead
order by dead_id;

insert into outbox_journal (at, what, subscription, detail, done_by, concerned)
select now(), case n % 2 when 0 then 'paused' else 'resumed' end, 'billing', null, 'ada', 1
from generate_series(1, 500) n;

insert into outbox_jobs (what, selection, requested_by, requested_at, state, concerned, done, last_dead_id, next_at, started_at, finished_at)
select 'replay', '{}', 'ada', now(), 'done', 10, 10, 1, now(), now(), now()
from generate_series(1, 100) n;
