-- $1 subscription, $2 lane, $3 position. The line that moved the cursor past the event for the last time. Nothing if it is pruned.
-- Between two resets cursors only go forward, so that the line is found by halving: "low" has not passed the event, "high" has. The
-- last reset that took it back is where to begin; without one, the first line there is.
with recursive
event as materialized (
  select o.xid, o.position
  from {log} o
  where o.position = $3
),
ends as materialized (
  select
    (select l.n from {lines} l where l.subscription = $1 and l.lane = $2 order by l.n limit 1) as first,
    (select l.n from {lines} l where l.subscription = $1 and l.lane = $2 order by l.n desc limit 1) as last,
    (select max(l.n)
      from event e
      cross join {lines} l
      join {snapshots} f on f.number = l.from_snapshot
      join {snapshots} t on t.number = l.to_snapshot
      where l.subscription = $1 and l.lane = $2 and l.kind = 'reset'
        and not {passed}(e.xid, e.position, f.snapshot, t.snapshot, l.after_position)) as taken_back
),
halves (low, high) as (
  select coalesce(ends.taken_back, ends.first), ends.last
  from ends
  cross join event e
  join {lines} l on l.subscription = $1 and l.lane = $2 and l.n = coalesce(ends.taken_back, ends.first)
  join {snapshots} f on f.number = l.from_snapshot
  join {snapshots} t on t.number = l.to_snapshot
  where not {passed}(e.xid, e.position, f.snapshot, t.snapshot, l.after_position)
  union all
  select case when middle.passed then h.low else middle.n end, case when middle.passed then middle.n else h.high end
  from halves h
  cross join lateral (
    select l.n, {passed}(e.xid, e.position, f.snapshot, t.snapshot, l.after_position) as passed
    from event e
    cross join {lines} l
    join {snapshots} f on f.number = l.from_snapshot
    join {snapshots} t on t.number = l.to_snapshot
    where l.subscription = $1 and l.lane = $2 and l.n = (h.low + h.high) / 2) middle
  where h.high - h.low > 1
)
select l.at, l.relay
from halves h
join {lines} l on l.subscription = $1 and l.lane = $2 and l.n = h.high
where h.high - h.low = 1;
