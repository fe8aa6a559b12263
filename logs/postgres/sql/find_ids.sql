-- $1 positions as a JSON array. Answers the ids of what the transaction that asks would commit. It is the application's connection: a
-- lookup of one row by its key is just that whatever is known of the table, a join is not.
select coalesce(json_agg(found.id) filter (where found.id is not null), '[]')::text
from (
  select (select o.id from {log} o where o.position = asked.position::bigint) as id
  from json_array_elements_text($1::text::json) asked (position)) found;
