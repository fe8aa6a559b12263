-- A column of batch.sql and batch_late.sql: whether something of the key is in the way. $2 subscription, $3 whether dead letters hold, $4 now or null.
-- The order is that of the index by keys and of no other: a plan of when there was nothing would take any that begins with the subscription.
    case
      when o.key is null then false
      when not (
        select exists (select from {parked} where subscription = $2)
          or exists (select from {dead} where subscription = $2 and resolution is null and holds))
        then false
      when exists (
        select from {parked} p
        where p.subscription = $2 and p.lane = {lane}(o.key, o.id) and p.key = o.key and not p.delayed and p.position < o.position
        order by p.due_at, p.position
        offset 0)
        then true
      when exists (
        select from {parked} p
        where p.subscription = $2 and p.lane = {lane}(o.key, o.id) and p.key = o.key and p.delayed
          and p.due_at <= coalesce($4, statement_timestamp()) and p.position < o.position
        order by p.due_at, p.position
        offset 0)
        then true
      else $3 and exists (
        select from {dead} d
        where d.subscription = $2 and d.lane = {lane}(o.key, o.id) and d.key = o.key and d.resolution is null and d.holds
          and d.position < o.position
        order by d.position, d.dead_id
        offset 0)
    end
