-- What time it is, by the clock that dates rows.
select statement_timestamp();
