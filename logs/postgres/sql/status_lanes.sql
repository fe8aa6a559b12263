-- $1 subscription or null for all. The last line of every lane, with how many deliveries its lines tell of; n is null if it has none.
select
  c.subscription,
  c.lane,
  c.n,
  c.kind,
  c.relay,
  c.after_position,
  c.at,
  coalesce(c.delivered_total - first.delivered_total + first.delivered, 0)
from {cursors} c
left join lateral (
  select l.delivered_total, l.delivered
  from {lines} l
  where l.subscription = c.subscription and l.lane = c.lane
  order by l.n
  limit 1) first on true
where $1::text is null or c.subscription = $1
order by c.subscription, c.lane;
