-- ?1 subscription, ?2 the new cursor, ?3 number of lanes, ?4 how many to count. Events that the subscription wants and has not passed, and that lie before
-- the new cursor: how many, the first and the last.
with recursive
lanes(lane) as (
  values (0)
  union all
  select lane + 1 from lanes where lane + 1 < ?3
),
cursors(lane, cursor) as materialized (
  select lanes.lane, coalesce((
    select l.cursor
    from "{prefix}_lines" l
    where l.subscription = ?1 and l.lane = lanes.lane
    order by l.n desc
    limit 1), 0)
  from lanes
)
select count(*), coalesce(min(position), 0), coalesce(max(position), 0)
from (
  select o.position
  from "{prefix}_subscriptions" s
  cross join "{prefix}" o
  cross join cursors c on c.lane = +o.lane
  where s.name = ?1
    and o.position <= ?2
    and o.position > (select min(cursor) from cursors)
    and o.position > c.cursor
    and {wanted}
  order by o.position
  limit ?4);
