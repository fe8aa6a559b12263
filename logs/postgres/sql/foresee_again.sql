-- $1 subscription, $2 the new cursor, $3 how many to count. Events that the subscription wants and has passed, and that lie behind the new cursor: how many,
-- the first and the last.
with
cursors as materialized (
  select c.lane, c.from_seen, c.to_seen, c.after_position
  from {cursors} c
  where c.subscription = $1
),
filter as materialized (
  select s.filter::json -> 'types' as types, s.filter::json -> 'topics' as topics
  from {subscriptions} s
  where s.name = $1
)
select count(*), coalesce(min(position), 0), coalesce(max(position), 0)
from (
  select o.position
  from {log} o
  join cursors c on c.lane = {lane}(o.key, o.id)
  cross join filter f
  where o.position > $2
    and {passed}(o.xid, o.position, c.from_seen, c.to_seen, c.after_position)
    and {wanted}(f.types, o.event_type)
    and {wanted}(f.topics, o.topic)
  limit $3) again;
