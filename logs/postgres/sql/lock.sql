-- $1 what. Until the end of the transaction, whoever else wants the same waits.
select pg_advisory_xact_lock(hashtextextended($1, 7708301));
