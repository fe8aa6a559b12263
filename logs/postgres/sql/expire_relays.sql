-- $1 the relay that asks, $2 now or null. Before anybody takes their lanes: a late renewal then finds no row. The lease is judged again
-- under the lock, and who is just renewing is left alone.
delete from {relays}
where relay in (
  select relay
  from {relays}
  where held_until < coalesce($2, statement_timestamp())
    and relay <> $1
  order by relay
  for update skip locked);
