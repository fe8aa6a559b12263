-- $1 channel. Never inside the transaction of an application: it takes a lock over the whole database at commit. Nothing is lost with
-- it, so nobody waits until it is on disk.
select set_config('synchronous_commit', 'off', true), pg_notify($1, '');
