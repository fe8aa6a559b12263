-- $1 before this one, $2 by whom, $3 what, $4 subscription (each or null), $5 rows at most. What operators did, newest first: by the index of that, past
-- everything else in the journal.
select journal_id, at, done_by, what, subscription, concerned, detail
from {journal}
where concerned is not null
  and journal_id < $1
  and ($2::text is null or done_by = $2)
  and ($3::text is null or what = $3)
  and ($4::text is null or subscription = $4)
order by journal_id desc
limit $5;
