-- The last committed position, also after everything was pruned: the counter never goes back.
select coalesce((select seq from sqlite_sequence where name = '{prefix}'), 0);
