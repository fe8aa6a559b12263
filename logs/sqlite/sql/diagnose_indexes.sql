-- Those of the indexes in the JSON array ?1 that the file does not have.
select wanted.value
from json_each(?1) as wanted
where not exists (select 1 from sqlite_master as m where m.type = 'index' and m.name = wanted.value)
order by wanted.value;
