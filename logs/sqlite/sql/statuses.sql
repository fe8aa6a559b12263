-- ?1 positions as a JSON array, ?2 subscription or null for all. Newest first, as the summaries.
select o.position, o.subscription, o.word, o.attempts, o.last_error, o.due_at, o.delayed
from json_each(?1) page
cross join "{prefix}_standing" o on o.position = page.value
where ?2 is null or o.subscription = ?2
order by o.position desc, o.subscription;
