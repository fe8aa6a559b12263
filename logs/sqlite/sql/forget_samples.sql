-- As forget_statistics.sql.
delete from sqlite_stat4
where tbl in ('{prefix}', '{prefix}_meta', '{prefix}_subscriptions', '{prefix}_relays', '{prefix}_lines', '{prefix}_parked', '{prefix}_dead',
  '{prefix}_journal', '{prefix}_jobs', '{prefix}_sequences');
