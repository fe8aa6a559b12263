-- $1 now or null, $2 what, $3 subscription or null, $4 detail or null, $5 by whom, $6 how many it concerned.
insert into {journal} (at, what, subscription, detail, done_by, concerned)
values (coalesce($1, statement_timestamp()), $2, $3, $4, $5, $6);
