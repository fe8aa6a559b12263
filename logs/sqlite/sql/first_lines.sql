-- ?1 subscription, ?2 number of lanes, ?3 cursor, ?4 now. Every lane has a line before anybody can take one.
with recursive lanes(lane) as (
  values (0)
  union all
  select lane + 1 from lanes where lane + 1 < ?2
)
insert into "{prefix}_lines" (subscription, lane, n, kind, cursor, at)
select ?1, lane, (select first_line from "{prefix}_subscriptions" where name = ?1), 'reset', ?3, ?4
from lanes;
