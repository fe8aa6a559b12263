-- $1 position. In the order in which it was written.
select at, subscription, what, attempt, detail, done_by
from {journal}
where position = $1
order by journal_id;
