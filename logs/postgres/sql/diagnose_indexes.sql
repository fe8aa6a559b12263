-- Those of the indexes $1 that are missing in the log's schema, or not valid: (name, is there).
select n.name, c.oid is not null
from unnest($1::text[]) as n (name)
left join pg_class c
  on c.relname = n.name and c.relnamespace = (select l.relnamespace from pg_class l where l.oid = '{log}'::regclass)
left join pg_index i on i.indexrelid = c.oid
where not coalesce(i.indisvalid and i.indisready, false)
order by n.name;
