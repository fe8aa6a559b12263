-- The tables in which `analyze` and `pragma optimize` keep what they have counted; none if nobody ever has.
select name
from sqlite_schema
where type = 'table'
  and name in ('sqlite_stat1', 'sqlite_stat4');
