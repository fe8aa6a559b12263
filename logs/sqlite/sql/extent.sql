-- The first and the last position that there is; null in an empty log.
select (select min(position) from "{prefix}"), (select max(position) from "{prefix}");
