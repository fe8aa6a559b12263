-- ?1 relay, ?2 host, ?3 version, ?4 names it serves, ?5 now, ?6 held until. Asking twice is asking once: the first answer
-- may have been lost.
insert into "{prefix}_relays" (relay, host, version, subscriptions, started_at, held_until)
values (?1, ?2, ?3, ?4, ?5, ?6)
on conflict (relay) do update set subscriptions = excluded.subscriptions, held_until = excluded.held_until;
