-- $1 dead_ids. What is sent again takes the place of what may be parked there.
delete from {parked} p
using {dead} d
where d.dead_id = any ($1::bigint[])
  and p.subscription = d.subscription
  and p.position = d.position;
