-- $1 subscription, $2 before this position, $3 how many to leave out. Where a page that looks at so many and one has to end.
select position
from {dead}
where subscription = $1
  and position < $2
order by position desc
limit 1
offset $3;
