-- $1 subscription, $2 generation, $3 now or null, $4 lanes whose parked entries are wanted (mask): see standing.sql.
-- $5 from, $6 to (null: now), $7 a snapshot up to which nothing was there (or null), as texts.
-- Opens the window between two snapshots: its end, its first and last position, the transactions that were under way in its
-- beginning and are not any more, whether it goes forward, and a number for its end if there is anything in it.
-- All in the snapshot that is the window's end: a subscription that was not changed in it is not changed for any event of the window.
-- The range is bounded on both sides, or it would be taken for a third of the table. "position + 0" keeps the primary key out of it, and
-- "offset 0" makes "exists" one lookup each.
select
{standing_columns},
  cut.t::text,
  span.first,
  span.last,
  late.xids::text,
  pg_snapshot_xmax(cut.t) >= pg_snapshot_xmax(cut.f)
    and not exists (select from pg_snapshot_xip(cut.t) x where pg_visible_in_snapshot(x, cut.f)),
  case when $6 is null and (span.first is not null or late.xids is not null) then nextval('{snapshot_numbers}') end
from (
  select $5::text::pg_snapshot as f, coalesce($6::text::pg_snapshot, pg_current_snapshot()) as t
  offset 0) cut
cross join lateral (
  select min(o.position + 0) as first, max(o.position + 0) as last
  from {log} o
  where o.xid >= pg_snapshot_xmax(cut.f)
    and o.xid < pg_snapshot_xmax(cut.t)
    and ($7 is null or cut.t::text <> $7)) span
cross join lateral (
  select array_agg(x) as xids
  from pg_snapshot_xip(cut.f) x
  where pg_visible_in_snapshot(x, cut.t)
    and ($7 is null or cut.t::text <> $7)
    and exists (select from {log} o where o.xid = x offset 0)) late;
