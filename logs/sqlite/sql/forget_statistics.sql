-- What was counted while the tables were small makes SQLite read them from end to end when they are large.
delete from sqlite_stat1
where tbl in ('{prefix}', '{prefix}_meta', '{prefix}_subscriptions', '{prefix}_relays', '{prefix}_lines', '{prefix}_parked', '{prefix}_dead',
  '{prefix}_journal', '{prefix}_jobs', '{prefix}_sequences');
