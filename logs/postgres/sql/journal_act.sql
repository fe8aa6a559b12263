-- $1 now or null, $2 what, $3 subscription, $4 detail or null, $5 by whom.
insert into {journal} (at, what, subscription, detail, done_by)
values (coalesce($1, statement_timestamp()), $2, $3, $4, $5);
