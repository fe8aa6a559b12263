-- $1 snapshot as text.
insert into {snapshots} (number, snapshot)
values (nextval('{snapshot_numbers}'), $1::text::pg_snapshot)
returning number;
