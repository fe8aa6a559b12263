-- Columns of standing.sql and open.sql: how a subscription stands. $1 subscription, $2 generation, $3 now or null, $4 lanes (mask).
  (select id from {incarnation}),
  not exists (select from {subscriptions} where name = $1 and generation = $2 and not paused),
  case
    when exists (select from {parked} where subscription = $1)
      or exists (select from {dead} where subscription = $1 and resolution is null and holds)
      then (
        select coalesce(bit_or(1::bigint << l.lane), 0)
        from generate_series(0, 63) l (lane)
        where exists (select from {parked} p where p.subscription = $1 and p.lane = l.lane order by p.due_at offset 0)
          or exists (
            select from {dead} d
            where d.subscription = $1 and d.lane = l.lane and d.resolution is null and d.holds
            order by d.key, d.position, d.dead_id
            offset 0))
    else 0
  end,
  coalesce($3, statement_timestamp()),
  case when exists (select from {parked} where subscription = $1) then (
    select min((select min(p.due_at) from {parked} p where p.subscription = $1 and p.lane = l.lane))
    from generate_series(0, 63) l (lane)
    where ($4 >> l.lane) & 1 = 1)
  end,
  case when exists (select from {parked} where subscription = $1) then (
    select min((
      select min(p.due_at)
      from {parked} p
      where p.subscription = $1 and p.lane = l.lane and p.due_at > coalesce($3, statement_timestamp())))
    from generate_series(0, 63) l (lane)
    where ($4 >> l.lane) & 1 = 1)
  end
