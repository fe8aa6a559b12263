-- What people see: one row an event and subscription.

-- How each event stands in each subscription, without a look at the clock: that is for whoever asks to add.
-- A parked event is failed or delayed, depending on the time; every other word is final here.
create view "{prefix}_standing" as
select
  s.name as subscription,
  o.position,
  o.id,
  o.event_type,
  o.topic,
  o.key,
  o.lane,
  o.created_at,
  coalesce(p.attempts, d.attempts, 0) as attempts,
  case when p.position is null then d.error else p.last_error end as last_error,
  p.due_at,
  p.delayed,
  case
    when p.position is not null then 'parked'
    -- Given up for good is still dead; only what lies ahead of the cursor again begins anew.
    when (d.resolution is null or d.resolution = 'discarded') and d.dead_id is not null
      and o.position <= (
        select l.cursor
        from "{prefix}_lines" l
        where l.subscription = s.name and l.lane = o.lane
        order by l.n desc
        limit 1)
      then 'dead'
    -- A star of the filter is a star of "glob"; what else means something to "glob" is put in brackets.
    when json_array_length(s.filter, '$.types') > 0 and not exists (
        select 1
        from json_each(s.filter, '$.types') f
        where o.event_type glob replace(replace(f.value, '[', '[[]'), '?', '[?]'))
      then 'skipped'
    when json_array_length(s.filter, '$.topics') > 0 and not exists (
        select 1
        from json_each(s.filter, '$.topics') f
        where o.topic glob replace(replace(f.value, '[', '[[]'), '?', '[?]'))
      then 'skipped'
    when o.position > (
        select l.cursor
        from "{prefix}_lines" l
        where l.subscription = s.name and l.lane = o.lane
        order by l.n desc
        limit 1)
      then 'pending'
    -- Nobody delivered it if the line that passed it was a reset: the start of the subscription, or an operator's.
    when exists (
        select 1
        from "{prefix}_lines" r
        where r.subscription = s.name and r.lane = o.lane and r.kind = 'reset' and r.cursor >= o.position
          and (r.n = s.first_line or exists (
            select 1
            from "{prefix}_lines" b
            where b.subscription = s.name and b.lane = o.lane and b.n = r.n - 1 and b.cursor < o.position))
          and not exists (
            select 1
            from "{prefix}_lines" a
            where a.subscription = s.name and a.lane = o.lane and a.kind = 'reset' and a.n > r.n
              and a.cursor < o.position))
      then 'skipped'
    -- The line that passed it is pruned: then only the start is known.
    when o.position <= s.started_after
      and not exists (
        select 1
        from "{prefix}_lines" r
        where r.subscription = s.name and r.lane = o.lane and r.kind = 'reset' and r.cursor < o.position)
      and o.position <= (
        select l.cursor
        from "{prefix}_lines" l
        where l.subscription = s.name and l.lane = o.lane
        order by l.n
        limit 1)
      then 'skipped'
    else 'delivered'
  end as word
from "{prefix}" o
cross join "{prefix}_subscriptions" s
left join "{prefix}_parked" p on p.subscription = s.name and p.position = o.position
left join "{prefix}_dead" d on d.dead_id = (
  select max(latest.dead_id)
  from "{prefix}_dead" latest
  where latest.subscription = s.name and latest.position = o.position);

-- For operators, by this database's clock: pending, failed, delayed, delivered, dead or skipped. (Only the relay that reads an
-- event knows that it is processing, so the word is not here.)
create view "{prefix}_status" as
select
  subscription,
  position,
  lower(hex(id)) as id,
  case
    when word <> 'parked' then word
    when delayed = 1 and due_at > cast(round((julianday('now') - 2440587.5) * 86400000.0) as integer) * 1000 then 'delayed'
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
from "{prefix}_standing";
