-- $1 name, $2 value. Runs in the transaction of the migration that makes it true.
insert into {meta} (name, value)
values ($1, $2)
on conflict (name) do update set value = excluded.value;
