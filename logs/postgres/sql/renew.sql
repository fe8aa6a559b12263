-- $1 relay, $2 names it serves, $3 now or null, $4 for how many microseconds. Changes nothing if the row is gone: then somebody may have
-- its lanes.
update {relays}
set subscriptions = $2::text[], held_until = coalesce($3, clock_timestamp()) + $4 * interval '1 microsecond'
where relay = $1;
