-- What dead letters died of, counted among a hundred thousand without reading one.

-- Texts of any length have no place in an index: a row that does not fit would be refused, and its lane would stand still. Their hashes do. (The error line
-- is cut as it is.)
alter table {dead}
  add column type_hash bigint not null generated always as (hashtextextended(event_type, 0)) stored,
  add column topic_hash bigint not null generated always as (hashtextextended(topic, 0)) stored,
  add column key_hash bigint generated always as (hashtextextended(key, 0)) stored;

-- Everything by which unresolved ones are selected and grouped. (Only a statement that says so may use it: see 0003.)
create index "{prefix}_dead_groups" on {dead} (
  subscription, reason, type_hash, error_line, moved_at, topic_hash, key_hash, dead_id)
  where resolution is null and dead_id + 0 > -2;
