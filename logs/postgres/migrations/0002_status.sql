-- What people see: how far each lane is, and one row an event and subscription.

-- The last line of every lane: how far it is settled and who settled last. The numbers name the snapshots; "seen" is what they see.
-- A lane without a line, which is damage, has settled nothing.
create view {cursors} as
select
  s.name as subscription,
  lanes.lane::smallint as lane,
  l.n,
  l.kind,
  l.relay,
  coalesce(l.from_snapshot, 0) as from_snapshot,
  coalesce(l.to_snapshot, 0) as to_snapshot,
  coalesce(f.snapshot, '1:1:') as from_seen,
  coalesce(t.snapshot, '1:1:') as to_seen,
  coalesce(l.after_position, 0) as after_position,
  coalesce(l.delivered_total, 0) as delivered_total,
  l.at
from {subscriptions} s
cross join generate_series(0, {lanes} - 1) lanes (lane)
left join lateral (
  select last.n, last.kind, last.relay, last.from_snapshot, last.to_snapshot, last.after_position, last.delivered_total, last.at
  from {lines} last
  where last.subscription = s.name and last.lane = lanes.lane
  order by last.n desc
  limit 1) l on true
left join {snapshots} f on f.number = l.from_snapshot
left join {snapshots} t on t.number = l.to_snapshot;

-- Every event that lies ahead of its lane's cursor, those included that the filter will skip. Found by where the lane stands that is
-- furthest behind, so that it costs what is ahead and not what is there: what the end of a window does not see, by transaction; what
-- was under way at that end; and what is left of a window that is half done, by position.
create view {ahead} as
select s.name as subscription, e.position, e.lane, e.created_at
from {subscriptions} s
cross join lateral (
  with
  cursors as materialized (
    select c.lane, c.from_snapshot, c.to_snapshot, c.from_seen, c.to_seen, c.after_position
    from {cursors} c
    where c.subscription = s.name
  ),
  furthest_behind as materialized (
    select
      (select pg_snapshot_xmax(c.to_seen) from cursors c order by 1 limit 1) as xid,
      (select min(c.after_position) from cursors c where c.from_snapshot <> c.to_snapshot) as position
  ),
  under_way as materialized (
    select distinct x as xid
    from cursors c
    cross join lateral pg_snapshot_xip(c.to_seen) x
    where x < (select b.xid from furthest_behind b)
  )
  -- "position + 0" keeps the primary key out of it, whatever is asked of the position.
  select o.position + 0 as position, {lane}(o.key, o.id) as lane, o.created_at
  from furthest_behind b
  join {log} o on o.xid >= b.xid
  join cursors c on c.lane = {lane}(o.key, o.id)
  where not pg_visible_in_snapshot(o.xid, c.to_seen)
    and not {passed}(o.xid, o.position, c.from_seen, c.to_seen, c.after_position)
  union all
  select o.position, {lane}(o.key, o.id), o.created_at
  from under_way u
  cross join lateral (
    select l.xid, l.position, l.key, l.id, l.created_at
    from {log} l
    where l.xid = u.xid
    -- One lookup for each, however many the planner expects.
    offset 0) o
  join cursors c on c.lane = {lane}(o.key, o.id)
  where not pg_visible_in_snapshot(o.xid, c.to_seen)
    and not {passed}(o.xid, o.position, c.from_seen, c.to_seen, c.after_position)
  union all
  select o.position, {lane}(o.key, o.id), o.created_at
  from furthest_behind b
  join {log} o on o.position > b.position
  join cursors c on c.lane = {lane}(o.key, o.id)
  where pg_visible_in_snapshot(o.xid, c.to_seen)
    and not {passed}(o.xid, o.position, c.from_seen, c.to_seen, c.after_position)) e;

-- Whether a filter wants a text: no patterns want everything, and a star in one is any run of characters. (A star of the filter is a
-- percent sign of "like"; what else means something to "like" is escaped.)
create function {wanted}(patterns json, name text) returns boolean language sql immutable parallel safe as $$
  select coalesce(json_array_length(patterns), 0) = 0 or exists (
    select from json_array_elements_text(patterns) p (pattern)
    where name like replace(replace(replace(replace(p.pattern, '!', '!!'), '%', '!%'), '_', '!_'), '*', '%') escape '!')
$$;

-- How each event stands in each subscription, without a look at the clock: that is for whoever asks to add.
-- A parked event is failed or delayed, depending on the time; every other word is final here.
create view {standing} as
select
  s.name as subscription,
  o.position,
  o.id,
  o.event_type,
  o.topic,
  o.key,
  {lane}(o.key, o.id) as lane,
  o.created_at,
  coalesce(p.attempts, d.attempts, 0) as attempts,
  case when p.position is null then d.error else p.last_error end as last_error,
  p.due_at,
  p.delayed,
  case
    when p.position is not null then 'parked'
    -- Given up for good is still dead; only what lies ahead of the cursor again begins anew.
    when d.dead_id is not null and (d.resolution is null or d.resolution = 'discarded') and last.has_passed then 'dead'
    when not {wanted}(s.filter::json -> 'types', o.event_type) or not {wanted}(s.filter::json -> 'topics', o.topic)
      then 'skipped'
    when last.has_passed is not true then 'pending'
    -- Nobody delivered it if the line that passed it was a reset: the start of the subscription, or an operator's.
    when exists (
        select from {lines} r
        join {snapshots} rf on rf.number = r.from_snapshot
        join {snapshots} rt on rt.number = r.to_snapshot
        where r.subscription = s.name and r.lane = {lane}(o.key, o.id) and r.kind = 'reset'
          and {passed}(o.xid, o.position, rf.snapshot, rt.snapshot, r.after_position)
          and (r.n = s.first_line or exists (
            select from {lines} b
            join {snapshots} bf on bf.number = b.from_snapshot
            join {snapshots} bt on bt.number = b.to_snapshot
            where b.subscription = s.name and b.lane = {lane}(o.key, o.id) and b.n = r.n - 1
              and not {passed}(o.xid, o.position, bf.snapshot, bt.snapshot, b.after_position)))
          and not exists (
            select from {lines} a
            join {snapshots} af on af.number = a.from_snapshot
            join {snapshots} au on au.number = a.to_snapshot
            where a.subscription = s.name and a.lane = {lane}(o.key, o.id) and a.kind = 'reset' and a.n > r.n
              and not {passed}(o.xid, o.position, af.snapshot, au.snapshot, a.after_position)))
      then 'skipped'
    -- The line that passed it is pruned: then only the start is known.
    when {passed}(o.xid, o.position, sf.snapshot, st.snapshot, s.started_after)
      and not exists (
        select from {lines} r
        join {snapshots} rf on rf.number = r.from_snapshot
        join {snapshots} rt on rt.number = r.to_snapshot
        where r.subscription = s.name and r.lane = {lane}(o.key, o.id) and r.kind = 'reset'
          and not {passed}(o.xid, o.position, rf.snapshot, rt.snapshot, r.after_position))
      and (
        select {passed}(o.xid, o.position, ff.snapshot, ft.snapshot, first.after_position)
        from (
          select l.from_snapshot, l.to_snapshot, l.after_position
          from {lines} l
          where l.subscription = s.name and l.lane = {lane}(o.key, o.id)
          order by l.n
          limit 1) first
        join {snapshots} ff on ff.number = first.from_snapshot
        join {snapshots} ft on ft.number = first.to_snapshot)
      then 'skipped'
    else 'delivered'
  end as word
from {log} o
cross join {subscriptions} s
left join {snapshots} sf on sf.number = s.started_from
left join {snapshots} st on st.number = s.started_to
left join {parked} p on p.subscription = s.name and p.position = o.position
left join lateral (
  select latest.dead_id, latest.attempts, latest.error, latest.resolution
  from {dead} latest
  where latest.subscription = s.name and latest.position = o.position
  order by latest.dead_id desc
  limit 1) d on true
left join lateral (
  select {passed}(o.xid, o.position, lf.snapshot, lt.snapshot, line.after_position) as has_passed
  from (
    select l.from_snapshot, l.to_snapshot, l.after_position
    from {lines} l
    where l.subscription = s.name and l.lane = {lane}(o.key, o.id)
    order by l.n desc
    limit 1) line
  join {snapshots} lf on lf.number = line.from_snapshot
  join {snapshots} lt on lt.number = line.to_snapshot) last on true;

-- For operators, by this database's clock: pending, failed, delayed, delivered, dead or skipped. (Only the relay that reads an event
-- knows that it is processing, so the word is not here.)
create view {status} as
select
  subscription,
  position,
  id,
  case
    when word <> 'parked' then word
    when delayed and due_at > statement_timestamp() then 'delayed'
    else 'failed'
  end as status,
  attempts,
  last_error,
  due_at,
  lane,
  key,
  event_type,
  topic,
  created_at
from {standing};
