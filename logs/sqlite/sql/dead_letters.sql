-- ?11 also the resolved ones, ?12 behind this one, ?13 up to this one, ?14 how many to look at, ?15 rows at most, ?16 bytes of a payload at
-- most: in place of a larger one comes its size; the rest: see parts/dead_fits.sql. (The loop over "looked" keeps its order.)
with looked(dead_id) as (
  {dead_look}
)
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
  case when octet_length(d.payload) <= ?16 then d.payload else octet_length(d.payload) end,
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
from looked
cross join "{prefix}_dead" d on d.dead_id = looked.dead_id
where {dead_fits}
limit ?15;
