-- The tables of the log: (name, bytes with indexes, dead rows, live rows, whether autovacuum is off for it), the largest first.
select c.relname::text, pg_total_relation_size(c.oid), coalesce(s.n_dead_tup, 0), coalesce(s.n_live_tup, 0),
  coalesce(c.reloptions, array[]::text[]) && array['autovacuum_enabled=false', 'autovacuum_enabled=off']
from pg_class c
left join pg_stat_all_tables s on s.relid = c.oid
where c.oid = any (array[
  '{log}'::regclass, '{lines}'::regclass, '{parked}'::regclass, '{dead}'::regclass, '{journal}'::regclass, '{snapshots}'::regclass,
  '{subscriptions}'::regclass, '{relays}'::regclass, '{jobs}'::regclass
])
order by 2 desc;
