-- ?1 now. The bytes are those of the file: SQLite does not keep them for each table, and to count them reads everything.
select
  (select count(*) from "{prefix}"),
  ((select page_count from pragma_page_count()) - (select freelist_count from pragma_freelist_count()))
    * (select page_size from pragma_page_size()),
  (select count(*) from "{prefix}_relays" where held_until >= ?1);
