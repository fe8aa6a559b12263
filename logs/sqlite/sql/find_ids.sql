-- ?1 positions as a JSON array. What the transaction that asks would commit.
select id
from "{prefix}"
where position in (select value from json_each(?1));
