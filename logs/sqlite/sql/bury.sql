-- With a copy of the event, which may be pruned long before a person looks.
insert into "{prefix}_dead" (
  subscription, position, lane, reason, error, error_line, attempts, holds, moved_at, {event})
values {rows};
