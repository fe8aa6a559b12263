-- $11 how many at most; the rest: see parts/dead_counted.sql. The largest first. From the index alone, but for one dead letter of each group, which tells its
-- type ("offset 0": by its number).
with groups as materialized (
  select
    d.subscription,
    d.reason,
    d.error_line,
    count(*) as letters,
    min(d.moved_at) as first_at,
    max(d.moved_at) as last_at,
    min(d.dead_id) as one
  from {dead} d
  where d.resolution is null
    and d.dead_id + 0 > -2
    and {dead_counted}
  group by d.subscription, d.reason, d.type_hash, d.error_line
  order by letters desc, last_at desc
  limit $11
)
select g.subscription, g.reason, d.event_type, g.error_line, g.letters, g.first_at, g.last_at
from groups g
cross join lateral (
  select letter.event_type
  from {dead} letter
  where letter.dead_id = g.one
  offset 0) d
order by g.letters desc, g.last_at desc;
