-- Jobs; what operators did, apart from what else is in the journal; and dead letters found among a hundred thousand.

-- What relays do to many dead letters for an operator, a batch at a time.
create table "{prefix}_jobs" (
  job_id integer primary key autoincrement,
  what text not null check (what in ('replay', 'discard')),
  -- Which dead letters, as a JSON object.
  selection text not null,
  -- How many a second at most, or null.
  per_second integer check (per_second > 0),
  requested_by text not null,
  requested_at integer not null,
  state text not null default 'waiting' check (state in ('waiting', 'running', 'done', 'cancelled', 'failed')),
  -- How many dead letters fitted when it was started, and how many are done.
  concerned integer not null,
  done integer not null default 0,
  -- Dead letters behind this one died after the start.
  last_dead_id integer not null,
  -- The last one that was done. By position, so that the events of a key keep their order from batch to batch.
  after_position integer not null default 0,
  after_dead_id integer not null default 0,
  -- Not before this time.
  next_at integer not null,
  error text,
  started_at integer,
  finished_at integer
) strict;

create index "{prefix}_jobs_open" on "{prefix}_jobs" (next_at, job_id) where finished_at is null;
create index "{prefix}_jobs_over" on "{prefix}_jobs" (finished_at) where finished_at is not null;

-- How many an act of an operator concerned. Every act has one row with it, besides those of the events it was done to; null elsewhere.
alter table "{prefix}_journal" add column concerned integer;
create index "{prefix}_journal_acts" on "{prefix}_journal" (journal_id) where concerned is not null;

-- What tells one kind of error from another: its first line, cut. (A column like any other: with a generated one SQLite reads the row.)
alter table "{prefix}_dead" add column error_line text not null default '';
update "{prefix}_dead" set error_line =
  substr(case when instr(error, char(10)) > 0 then substr(error, 1, instr(error, char(10)) - 1) else error end, 1, 200);

drop index "{prefix}_dead_open";
-- The unresolved ones in the order in which they died, of one subscription or of all. (The last column is always null: with it SQLite counts without
-- reading a row.)
create index "{prefix}_dead_waiting" on "{prefix}_dead" (subscription, dead_id, resolution) where resolution is null;
create index "{prefix}_dead_unresolved" on "{prefix}_dead" (dead_id) where resolution is null;
-- And in the order of the log, as jobs take them.
create index "{prefix}_dead_order" on "{prefix}_dead" (position, dead_id) where resolution is null;
-- Everything by which unresolved ones are selected and grouped, so that to count them reads no row.
create index "{prefix}_dead_groups" on "{prefix}_dead" (subscription, reason, event_type, error_line, moved_at, topic, key, resolution)
  where resolution is null;
create index "{prefix}_dead_moved" on "{prefix}_dead" (moved_at, subscription);
