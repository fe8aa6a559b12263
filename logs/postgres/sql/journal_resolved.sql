-- $1 dead_ids, $2 what, $3 now or null, $4 by whom, $5 detail or null.
insert into {journal} (at, what, subscription, position, id, detail, done_by)
select coalesce($3, statement_timestamp()), $2, subscription, position, id, $5, $4
from {dead}
where dead_id = any ($1::bigint[])
order by dead_id;
