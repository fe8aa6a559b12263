-- $1 subscription. Behind the lines of the reset: the log will yield these again; left here they would go twice, or stop their key. What
-- was pruned from the log stays: it is nowhere else.
delete from {parked} p
using {cursors} c
where p.subscription = $1
  and c.subscription = $1
  and c.lane = p.lane
  and exists (
    select from {log} o
    where o.position = p.position
      and not {passed}(o.xid, o.position, c.from_seen, c.to_seen, c.after_position)
    offset 0);
