-- $1 subscription, $2 now or null, $3 by whom. Behind the lines of the reset: the log will yield these again; what was pruned from it waits
-- for a person as before.
update {dead} d
set resolution = 'reset', resolved_at = coalesce($2, statement_timestamp()), resolved_by = $3
from {cursors} c
where d.subscription = $1
  and d.resolution is null
  and c.subscription = $1
  and c.lane = d.lane
  and exists (
    select from {log} o
    where o.position = d.position
      and not {passed}(o.xid, o.position, c.from_seen, c.to_seen, c.after_position)
    offset 0);
