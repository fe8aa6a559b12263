-- $1 events as a JSON array. Answers [[id, position, lane], …] of those that went in. An event with a known id or idempotency key leaves
-- no row and breaks nothing: the caller's transaction goes on. In the order given, which is the order of the positions.
with added as (
  insert into {log} ({event})
  select {from_record}
  from rows from (json_to_recordset($1::text::json) as ({record})) with ordinality as e
  order by e.ordinality
  on conflict do nothing
  returning id, position, {lane}(key, id) as lane
)
select coalesce(json_agg(json_build_array(id, position, lane)), '[]')::text
from added;
