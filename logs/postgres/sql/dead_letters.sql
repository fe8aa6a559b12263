-- $11 also the resolved ones, $12 behind this one, $13 up to this one, $14 how many to look at, $15 rows at most, $16 bytes of a payload at most: of a
-- larger one only the size is told; the rest: see parts/dead_fits.sql. One after the other, in order, until there are enough ("offset 0").
select
  d.dead_id,
  d.subscription,
  d.position,
  d.id,
  d.event_type,
  d.topic,
  d.key,
  d.aggregate_type,
  d.aggregate_id,
  d.tenant_id,
  d.content_type,
  case when d.payload_bytes is null and octet_length(d.payload) <= $16 then d.payload end,
  case when d.payload_bytes is not null and d.payload = '' and octet_length(d.payload_bytes) <= $16 then d.payload_bytes end,
  coalesce(octet_length(d.payload_bytes), octet_length(d.payload)),
  d.headers,
  d.reason,
  d.error,
  d.attempts,
  d.moved_at,
  d.holds,
  d.resolution,
  d.resolved_at,
  d.resolved_by,
  d.new_id
from (
  {dead_look}) looked
cross join lateral (
  select d.*
  from {dead} d
  where d.dead_id = looked.dead_id
  offset 0) d
where {dead_fits}
limit $15;
