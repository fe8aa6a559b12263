-- $1 time. The first position that was written then or later, or the one behind the last; null in an empty log.
-- Positions and times grow together, so it is found by halving, and not by reading everything.
with recursive search (low, high) as (
  select (select min(position) from {log}), (select max(position) + 1 from {log})
  union all
  select
    case when found.created_at < $1 then found.position + 1 else s.low end,
    case when found.created_at < $1 then s.high else (s.low + s.high) / 2 end
  from search s
  cross join lateral (
    select o.position, o.created_at
    from {log} o
    where o.position >= (s.low + s.high) / 2
    order by o.position
    limit 1) found
  where s.low < s.high
)
select max(low)
from search;
