-- What keeps old rows, or old parts of the write-ahead log, from being removed: (kind, name, seconds, bytes), the worst first. Times are
-- those of the server's clock; what the role may not see of others is not told.
(
  select 'transaction', format('process %s of %s, %s', a.pid, coalesce(a.usename::text, 'somebody'), coalesce(a.state, 'active')),
    extract(epoch from clock_timestamp() - a.xact_start)::float8, null::bigint
  from pg_stat_activity a
  where a.xact_start is not null and a.pid <> pg_backend_pid() and a.datname = current_database()
    and coalesce(a.backend_type, '') = 'client backend'
  order by a.xact_start limit 3
)
union all
(
  select 'prepared', p.gid, extract(epoch from clock_timestamp() - p.prepared)::float8, null
  from pg_prepared_xacts p
  where p.database = current_database()
  order by p.prepared limit 3
)
union all
(
  select 'slot', s.slot_name::text, null,
    case when pg_is_in_recovery() then null else pg_wal_lsn_diff(pg_current_wal_lsn(), s.restart_lsn)::bigint end
  from pg_replication_slots s
  where not s.active
  order by s.restart_lsn limit 3
);
