-- A follower (no error) that is parked already has nothing new to say: its own failures and its time stay.
insert into "{prefix}_parked" (
  subscription, position, lane, attempts, due_at, delayed, last_error, first_attempt_at, last_attempt_at, {event})
values {rows}
on conflict (subscription, position) do update set
  attempts = excluded.attempts,
  due_at = excluded.due_at,
  delayed = excluded.delayed,
  last_error = excluded.last_error,
  first_attempt_at = coalesce(first_attempt_at, excluded.first_attempt_at),
  last_attempt_at = excluded.last_attempt_at
where excluded.last_error is not null;
