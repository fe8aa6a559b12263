-- $1 positions. Newest first.
select
  o.position,
  o.id,
  o.event_type,
  o.event_version,
  o.topic,
  o.key,
  o.lane,
  o.aggregate_type,
  o.aggregate_id,
  o.version,
  o.tenant_id,
  o.correlation_id,
  o.occurred_at,
  o.created_at,
  o.deliver_after
from unnest($1::bigint[]) page (position)
join {log} o on o.position = page.position
order by o.position desc;
