-- ?1 subscription, ?2 number of lanes, ?3 how many to count. The first events ahead of the cursors: of each lane how many, since when, and the first
-- and the last position. (The plus lets SQLite make an index for the cursors: their lane has no type, and the one of a column would be in
-- its way.)
with recursive
lanes(lane) as (
  values (0)
  union all
  select lane + 1 from lanes where lane + 1 < ?2
),
-- A lane without a line has settled nothing, so that everything in it counts.
cursors(lane, cursor) as materialized (
  select lanes.lane, coalesce((
    select l.cursor
    from "{prefix}_lines" l
    where l.subscription = ?1 and l.lane = lanes.lane
    order by l.n desc
    limit 1), 0)
  from lanes
),
counted(lane, position, created_at) as materialized (
  select o.lane, o.position, o.created_at
  from "{prefix}" o
  cross join cursors c on c.lane = +o.lane
  where o.position > (select min(cursor) from cursors)
    and o.position > c.cursor
  order by o.position
  limit ?3
)
select lane, count(*), min(created_at), min(position), max(position)
from counted
group by lane;
