-- How many jobs are not over, and when the next is due.
select count(*), min(next_at)
from "{prefix}_jobs"
where finished_at is null;
