-- The version of the library, and how the file is: its journal mode, its bytes, and how many of these are unused.
select
  sqlite_version(),
  (select journal_mode from pragma_journal_mode),
  (select page_count from pragma_page_count) * (select page_size from pragma_page_size),
  (select freelist_count from pragma_freelist_count) * (select page_size from pragma_page_size);
