-- ?1 subscription, ?2 lane, ?3 position. The line that moved the cursor past the position for the last time: the one behind the
-- last that had not passed it. Nothing if that one is pruned.
select l.at, l.relay
from "{prefix}_lines" l
where l.subscription = ?1
  and l.lane = ?2
  and l.n = 1 + (
    select b.n
    from "{prefix}_lines" b
    where b.subscription = ?1 and b.lane = ?2 and b.cursor < ?3
    order by b.n desc
    limit 1);
