-- An event with a known id or idempotency key leaves no row and breaks nothing: the caller's transaction goes on.
-- Who gets no row back for an event has to find out which of the two it was.
insert into "{prefix}" ({event})
values {rows}
on conflict do nothing
returning position, lane, id;
