-- ?1 relay, ?2 names it serves, ?3 held until. Changes nothing if the row is gone: then somebody may have its lanes.
update "{prefix}_relays"
set subscriptions = ?2, held_until = ?3
where relay = ?1;
