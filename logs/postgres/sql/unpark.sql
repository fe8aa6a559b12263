-- $1 subscription, $2 now or null, $3 relay, $4 positions. What was parked is delivered. The line that passed such an event only parked it,
-- so that nothing else tells when it was delivered.
with gone as (
  delete from {parked}
  where subscription = $1
    and position = any ($4::bigint[])
  returning position, id, attempts
)
insert into {journal} (at, what, subscription, position, id, attempt, done_by)
select coalesce($2, statement_timestamp()), 'delivered', $1, position, id, attempts + 1, $3
from gone
order by position;
