-- $1 subscription, $2 the new cursor, $3 how many to count. Events that the subscription wants and has not passed, and that lie before the new cursor: how
-- many, the first and the last.
with filter as materialized (
  select s.filter::json -> 'types' as types, s.filter::json -> 'topics' as topics
  from {subscriptions} s
  where s.name = $1
)
select count(*), coalesce(min(position), 0), coalesce(max(position), 0)
from (
  select a.position
  from {ahead} a
  cross join lateral (
    select l.event_type, l.topic
    from {log} l
    where l.position = a.position
    offset 0) o
  cross join filter f
  where a.subscription = $1
    and a.position <= $2
    and {wanted}(f.types, o.event_type)
    and {wanted}(f.topics, o.topic)
  limit $3) skipped;
