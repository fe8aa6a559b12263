-- $1 channel. Never inside the transaction of an application: it takes a lock over the whole database at commit.
select pg_notify($1, '');
