-- $1 subscription, $2 generation, $3 now or null, $4 lanes whose parked entries are wanted (mask).
-- How the subscription stands: incarnation, stale, troubled lanes, the time, first and next due.
select
{standing_columns};
