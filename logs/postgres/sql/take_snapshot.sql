-- What is seen now, and the last position in it. Asked before anything is written: a snapshot that is taken later in a transaction
-- could call the transaction itself done.
select pg_current_snapshot()::text, coalesce((select max(position) from {log}), 0);
