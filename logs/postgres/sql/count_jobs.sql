-- $1 now or null. How many jobs are not over, and in how many microseconds the next is due.
select count(*), (extract(epoch from min(next_at) - coalesce($1, statement_timestamp())) * 1000000)::bigint
from {jobs}
where finished_at is null;
