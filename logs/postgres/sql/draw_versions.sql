-- $1 [[aggregate_type, aggregate_id, how many], …], each aggregate once. Answers [[type, id, last], …]. Drawn in the caller's transaction,
-- so that a rollback leaves no gap, and whoever comes second waits for the commit. In one order for all, or two could wait for each other.
with drawn as (
  insert into {sequences} as s (aggregate_type, aggregate_id, last)
  select wanted.row ->> 0, wanted.row ->> 1, (wanted.row ->> 2)::bigint
  from json_array_elements($1::text::json) wanted (row)
  order by 1, 2
  on conflict (aggregate_type, aggregate_id) do update set last = s.last + excluded.last
  returning aggregate_type, aggregate_id, last
)
select coalesce(json_agg(json_build_array(aggregate_type, aggregate_id, last)), '[]')::text
from drawn;
