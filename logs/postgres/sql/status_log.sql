-- $1 now or null. The time, how many events there are, whether that is an estimate, and how many bytes the tables take.
-- Events are counted one by one up to 10,000. Beyond that it is told about how many there are: by how full a page of the table was when it
-- was last analysed, and never more than there are positions.
with counted as materialized (
  select count(*) as events
  from (select from {log} limit 10001) first
)
select
  coalesce($1, statement_timestamp()),
  case
    when counted.events <= 10000 then counted.events
    else greatest(counted.events, least(
      (select position from {log} order by position desc limit 1) - (select position from {log} order by position limit 1) + 1,
      (select (c.reltuples / c.relpages * (pg_relation_size(c.oid) / current_setting('block_size')::bigint))::bigint
        from pg_class c
        where c.oid = '{log}'::regclass and c.relpages > 0 and c.reltuples > 0)))
  end,
  counted.events > 10000,
  (select sum(pg_total_relation_size(name::regclass))::bigint
    from unnest(array['{log}', '{lines}', '{snapshots}', '{parked}', '{dead}', '{journal}']) name)
from counted;
