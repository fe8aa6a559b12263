-- ?1 is [[aggregate_type, aggregate_id, how many], …], each aggregate once. Drawn in the caller's transaction, so that a
-- rollback leaves no gap, and whoever comes second waits for the commit.
insert into "{prefix}_sequences" (aggregate_type, aggregate_id, last)
select value ->> 0, value ->> 1, value ->> 2
from json_each(?1)
where true
on conflict (aggregate_type, aggregate_id) do update set last = last + excluded.last
returning aggregate_type, aggregate_id, last;
