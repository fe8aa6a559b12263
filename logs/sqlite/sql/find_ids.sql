-- ?1 positions as a JSON array. What the transaction that asks would commit: null where nothing is. It is the application's
-- connection: a lookup of one row by its key is just that whatever statistics have been loaded, a join is not.
select (select o.id from "{prefix}" o where o.position = asked.value)
from json_each(?1) asked;
