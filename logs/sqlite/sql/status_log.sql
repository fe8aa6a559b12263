-- ?1 how many events to count one by one: beyond that it is told how many positions there are. How many, whether that is an estimate, and how many
-- bytes. The bytes are those of the file: SQLite does not keep them for each table, and to count them reads everything.
with extent(width) as materialized (
  select coalesce((select max(position) from "{prefix}") - (select min(position) from "{prefix}") + 1, 0)
)
select
  case when extent.width <= ?1 then (select count(*) from "{prefix}") else extent.width end,
  extent.width > ?1,
  ((select page_count from pragma_page_count()) - (select freelist_count from pragma_freelist_count()))
    * (select page_size from pragma_page_size())
from extent;
