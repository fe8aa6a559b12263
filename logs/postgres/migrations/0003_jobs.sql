-- Jobs; what operators did, apart from what else is in the journal; and dead letters found among a hundred thousand.

-- What relays do to many dead letters for an operator, a batch at a time.
create table {jobs} (
  job_id bigint generated always as identity primary key,
  what text not null check (what in ('replay', 'discard')),
  -- Which dead letters, as a JSON object.
  selection text not null,
  -- How many a second at most, or null.
  per_second bigint check (per_second > 0),
  requested_by text not null,
  requested_at timestamptz not null,
  state text not null default 'waiting' check (state in ('waiting', 'running', 'done', 'cancelled', 'failed')),
  -- How many dead letters fitted when it was started, and how many are done.
  concerned bigint not null,
  done bigint not null default 0,
  -- Dead letters behind this one died after the start.
  last_dead_id bigint not null,
  -- The last one that was done. By position, so that the events of a key keep their order from batch to batch.
  after_position bigint not null default 0,
  after_dead_id bigint not null default 0,
  -- Not before this time.
  next_at timestamptz not null,
  error text,
  started_at timestamptz,
  finished_at timestamptz
);

create index "{prefix}_jobs_open" on {jobs} (next_at, job_id) where finished_at is null;
create index "{prefix}_jobs_over" on {jobs} (finished_at) where finished_at is not null;

-- How many an act of an operator concerned. Every act has one row with it, besides those of the events it was done to; null elsewhere.
alter table {journal} add column concerned bigint;
create index "{prefix}_journal_acts" on {journal} (journal_id) where concerned is not null;

-- What tells one kind of error from another: its first line, cut.
alter table {dead} add column error_line text not null generated always as (left(split_part(error, e'\n', 1), 200)) stored;

drop index {dead_open};
-- The unresolved ones in the order in which they died, of one subscription or of all. (Numbers begin at 1. Only a statement that says so may use these
-- indexes: relays look for something else, and no statistics should ever lead them here.)
create index "{prefix}_dead_waiting" on {dead} (subscription, dead_id) where resolution is null and dead_id > -1;
create index "{prefix}_dead_unresolved" on {dead} (dead_id) where resolution is null and dead_id > 0;
-- And in the order of the log, as jobs take them.
create index "{prefix}_dead_order" on {dead} (position, dead_id) where resolution is null and dead_id > 0;
create index "{prefix}_dead_moved" on {dead} (moved_at, subscription, dead_id);
