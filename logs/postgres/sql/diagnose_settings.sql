-- What a new connection without settings of its own gets, and the server's clock; one row. Everybody may ask for these.
select
  current_setting('server_version_num')::int,
  current_setting('server_version'),
  current_setting('fsync') = 'on',
  current_setting('full_page_writes') = 'on',
  current_setting('synchronous_commit'),
  current_setting('default_transaction_isolation'),
  current_setting('autovacuum') = 'on' and current_setting('track_counts') = 'on',
  current_setting('max_connections')::int,
  (select count(*) from pg_stat_activity where backend_type = 'client backend'),
  pg_is_in_recovery(),
  (extract(epoch from clock_timestamp()) * 1000000)::bigint,
  pg_backend_pid(),
  coalesce((select seqcache from pg_sequence where seqrelid = '{positions}'::regclass), 1);
