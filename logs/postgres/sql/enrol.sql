-- $1 relay, $2 host, $3 version, $4 names it serves, $5 now or null, $6 for how many microseconds. Asking twice is asking once: the first
-- answer may have been lost.
insert into {relays} (relay, host, version, subscriptions, started_at, held_until)
select $1, $2, $3, $4::text[], now, now + $6 * interval '1 microsecond'
from (select coalesce($5, statement_timestamp()) as now) clock
on conflict (relay) do update set subscriptions = excluded.subscriptions, held_until = excluded.held_until;
