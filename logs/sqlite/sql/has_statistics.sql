-- Whether anything was counted about these tables. Asked before it is removed: to look takes no lock.
select exists (
  select 1
  from sqlite_stat1
  where tbl in ('{prefix}', '{prefix}_meta', '{prefix}_subscriptions', '{prefix}_relays', '{prefix}_lines', '{prefix}_parked', '{prefix}_dead',
    '{prefix}_journal', '{prefix}_jobs', '{prefix}_sequences'));
