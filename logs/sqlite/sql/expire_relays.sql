-- ?1 the relay that asks, ?2 now. Before anybody takes their lanes: a late renewal then finds no row.
delete from "{prefix}_relays"
where held_until < ?2
  and relay <> ?1;
