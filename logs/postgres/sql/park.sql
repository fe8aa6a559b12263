-- $1 subscription, $2 now or null, $3 relay, $4 rows as a JSON array. A follower (no error) that is parked already has nothing new to say:
-- its own failures and its time stay. A failure is written into the journal.
with
clock(now) as materialized (
  select coalesce($2, statement_timestamp())
),
wanted as materialized (
  select *
  from json_to_recordset($4::text::json) as e (
    position bigint, lane smallint, attempts integer, due bigint, delayed boolean, error text, took bigint, {record})
),
stored as (
  insert into {parked} (
    subscription, position, lane, attempts, due_at, delayed, last_error, first_attempt_at, last_attempt_at, {event})
  select
    $1, e.position, e.lane, e.attempts,
    case
      when e.delayed then timestamptz 'epoch' + e.due * interval '1 microsecond'
      else clock.now + e.due * interval '1 microsecond'
    end,
    e.delayed, e.error,
    case when e.error is not null then clock.now end,
    case when e.error is not null then clock.now end,
    {from_record}
  from wanted e
  cross join clock
  order by e.position
  on conflict (subscription, position) do update set
    attempts = excluded.attempts,
    due_at = excluded.due_at,
    delayed = excluded.delayed,
    last_error = excluded.last_error,
    first_attempt_at = coalesce({parked}.first_attempt_at, excluded.first_attempt_at),
    last_attempt_at = excluded.last_attempt_at
  where excluded.last_error is not null
)
insert into {journal} (at, what, subscription, position, id, attempt, detail, done_by, took)
select clock.now, 'failed', $1, e.position, e.id, e.attempts, e.error, $3, e.took
from wanted e
cross join clock
where e.error is not null
order by e.position;
