-- $1 subscription, $2 now or null, $3 relay, $4 positions. What was parked is delivered. The line that passed such an event only parked it,
-- so that nothing else tells when it was delivered.
-- Each is looked up by itself, in the primary key: only that one has positions in order, and "between" keeps the order from being taken for
-- needless. Without that, a plan of when little was parked reads everything that the subscription has parked, also when that is much.
with gone as (
  delete from {parked}
  where ctid = any (array(
    select found.ctid
    from unnest($4::bigint[]) wanted (position)
    cross join lateral (
      select p.ctid
      from {parked} p
      where p.subscription = $1 and p.position between wanted.position and wanted.position
      order by p.position
      offset 0) found))
  returning position, id, attempts
)
insert into {journal} (at, what, subscription, position, id, attempt, done_by)
select coalesce($2, statement_timestamp()), 'delivered', $1, position, id, attempts + 1, $3
from gone
order by position;
