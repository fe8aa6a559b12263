-- $1 positions. Newest first ("offset 0": by their positions one by one, and never by the whole log).
select o.*
from unnest($1::bigint[]) page (position)
cross join lateral (
  select
    position,
    id,
    event_type,
    event_version,
    topic,
    key,
    {lane}(key, id) as lane,
    aggregate_type,
    aggregate_id,
    version,
    tenant_id,
    correlation_id,
    occurred_at,
    created_at,
    deliver_after
  from {log} event
  where event.position = page.position
  offset 0) o
order by page.position desc;
