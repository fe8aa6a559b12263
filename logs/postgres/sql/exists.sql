-- $1 a table. Asked for without an error, which would end the transaction.
select to_regclass($1) is not null;
