-- ?1 subscription, ?2 relay, ?3 [[lane, n, kind, cursor, delivered], …]. The lanes whose last line is this very act. The relay's
-- name alone would not do: with an old census in hand it may ask for something else under a number that it used itself.
select l.lane
from json_each(?3) act
cross join "{prefix}_lines" l
  on l.subscription = ?1 and l.lane = (act.value ->> 0) and l.n = (act.value ->> 1)
where l.relay = ?2
  and l.kind = (act.value ->> 2)
  and l.cursor = (act.value ->> 3)
  and l.delivered = (act.value ->> 4)
  and not exists (
    select 1
    from "{prefix}_lines" later
    where later.subscription = l.subscription and later.lane = l.lane and later.n > l.n);
