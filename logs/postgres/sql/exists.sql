-- $1 a table. Asked for without an error, which would end the transaction. That the query names a table matters: a server
-- process hears of tables that others have made when it opens one; by a name alone it might answer what it knew before.
select to_regclass($1) is not null from pg_namespace limit 1;
