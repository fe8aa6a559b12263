-- ?1 dead_ids as a JSON array, ?2 what, ?3 now, ?4 by whom, ?5 detail or null.
insert into "{prefix}_journal" (at, what, subscription, position, id, detail, done_by)
select ?3, ?2, subscription, position, id, ?5, ?4
from "{prefix}_dead"
where dead_id in (select value from json_each(?1))
order by dead_id;
