-- The tables of the outbox, for PostgreSQL 13 or later. The names in braces are replaced before this runs.

-- What must be known before anything else is believed: schema_version, lanes, system_identifier. And what no row remembers: dropped_line and
-- dropped_generation, the highest numbers that a subscription had that was dropped. Those that are made later begin behind them.
create table {meta} (
  name text primary key,
  value text not null
);

-- The name of a topic or of a type. What has an empty one fits no filter, and would be passed over without a word. A domain, because
-- PostgreSQL keeps the check of a domain ready, while it makes that of a table ready anew for each insert.
create domain {name} as text constraint "{prefix}_name" check (value <> '');

-- The id of an event whose publisher gives none: UUIDv7, the milliseconds and then chance. With chance alone each insert would change
-- another page of the index, and the first change of a page after a checkpoint writes the whole page into the write-ahead log. In
-- PL/pgSQL, because that keeps the expression ready: it would cost an insert that is not prepared more than a tenth of its time.
create function {new_id}() returns uuid language plpgsql volatile parallel safe as $$ begin
  return encode(
    set_bit(set_bit(
      overlay(
        uuid_send(gen_random_uuid())
        placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6),
      52, 1), 53, 1),
    'hex')::uuid;
end $$;

-- The log: one row an event, appended, never changed. A plain
--   insert into outbox (topic, event_type, key, payload) values ('users', 'user.created', '42', '{"name":"Ada"}')
-- is a whole event. Positions come from a sequence without a cache: two sessions with a cache each would number the events of
-- one key against their order.
create table {log} (
  position bigint generated always as identity primary key,
  -- The transaction that inserted it: a reader takes what is new between two snapshots.
  xid xid8 not null default pg_current_xact_id(),
  created_at timestamptz not null default clock_timestamp(),
  occurred_at timestamptz not null default clock_timestamp(),
  -- Where the write-ahead log stood.
  lsn pg_lsn not null default pg_current_wal_insert_lsn(),
  id uuid not null default {new_id}(),
  -- True if the writer made sure that payload and headers can be read; then readers need not check each row again. Leave it
  -- alone in plain SQL: a row without it is checked whenever it is read, and one that is broken stops nothing.
  checked boolean not null default false,
  key text,
  event_type {name} not null,
  topic {name} not null,
  event_version text not null default '1.0.0',
  aggregate_type text,
  aggregate_id text,
  version bigint,
  tenant_id text,
  content_type text not null default 'application/json',
  -- A JSON object of texts, or null.
  headers text,
  correlation_id text,
  -- The second row with the same topic and idempotency key is refused; "on conflict do nothing" makes that harmless.
  idempotency_key text,
  deliver_after timestamptz,
  -- What this event changes of the retry policy, as a JSON object, or null.
  retry text,
  -- '' if the payload is bytes, which are then in payload_bytes. No check sees to that, because it would cost as much as an index. Of a
  -- row with both it is said when it is read.
  payload text not null,
  payload_bytes bytea
);

-- In which lane an event is: all events of one key are in one, an event without a key is in any. No generated column: PostgreSQL
-- makes the expression of one ready anew for each insert, which costs more than to work it out whenever the event is read. (Written
-- so that the planner puts it into the statement that uses it.)
create function {lane}(key text, id uuid) returns smallint language sql immutable parallel safe as $$
  select ((hashtextextended(coalesce(key, id::text), 0) & 9223372036854775807) % {lanes})::smallint
$$;

create unique index "{prefix}_id" on {log} (id);
-- Where a window begins and ends.
create index "{prefix}_xid" on {log} (xid, position);
create unique index "{prefix}_idempotency" on {log} (topic, idempotency_key) where idempotency_key is not null;

-- A row that is changed by hand, against the rule, is at least checked again.
create function {uncheck}() returns trigger language plpgsql as $$ begin new.checked := false; return new; end $$;
create trigger "{prefix}_changed" before update of payload, payload_bytes, headers, content_type on {log}
  for each row when (new.checked) execute function {uncheck}();

-- Which transactions were seen at one moment, kept once for all lines that stand on it. Number 0 sees nothing.
create table {snapshots} (
  number bigint primary key,
  snapshot pg_snapshot not null,
  at timestamptz not null default clock_timestamp()
);
create sequence {snapshot_numbers};
insert into {snapshots} (number, snapshot) values (0, '1:1:');

-- One row that a crash of the server removes and a clean restart keeps: after a crash transaction ids are handed out a second
-- time, and snapshots that are only remembered mean something else.
create unlogged table {incarnation} (
  one boolean primary key default true check (one),
  id uuid not null default gen_random_uuid()
);

-- The named readers of the log. What the first cursor had passed was never meant for the subscription.
create table {subscriptions} (
  name text primary key,
  filter text not null,
  event_order text not null,
  start text not null,
  started_from bigint not null,
  started_to bigint not null,
  started_after bigint not null,
  paused boolean not null default false,
  generation bigint not null,
  -- The number of the line with which each lane began.
  first_line bigint not null,
  created_at timestamptz not null default clock_timestamp()
);

-- One row a live relay. A relay whose row is gone holds nothing, whatever the lines say.
create table {relays} (
  relay text primary key,
  host text not null,
  version text not null,
  subscriptions text[] not null,
  started_at timestamptz not null,
  held_until timestamptz not null
);

-- A chain of numbered lines for each lane of each subscription. The last one is the cursor and says who holds the lane.
-- The cursor: done is what from_snapshot sees, and of what only to_snapshot sees everything up to after_position.
create table {lines} (
  subscription text not null,
  lane smallint not null,
  n bigint not null,
  kind text not null check (kind in ('taken', 'settled', 'given_back', 'reset')),
  relay text,
  from_snapshot bigint not null,
  to_snapshot bigint not null,
  after_position bigint not null,
  delivered integer not null default 0,
  parked integer not null default 0,
  dead integer not null default 0,
  -- Delivered in this line and in all before it, so that nobody has to add them up.
  delivered_total bigint not null default 0,
  at timestamptz not null,
  xid xid8 not null default pg_current_xact_id(),
  lsn pg_lsn not null default pg_current_wal_insert_lsn(),
  primary key (subscription, lane, n)
);

-- Only a reset can pass over an event without delivering it, and there are few: this finds them among all lines.
create index "{prefix}_lines_reset" on {lines} (subscription, lane, n) where kind = 'reset';

-- What failed and is tried again, what waits behind it, and what is not due yet: each with a copy of the event.
create table {parked} (
  subscription text not null,
  position bigint not null,
  lane smallint not null,
  id uuid not null,
  key text,
  event_type text not null,
  event_version text not null,
  topic text not null,
  aggregate_type text,
  aggregate_id text,
  version bigint,
  tenant_id text,
  content_type text not null,
  headers text,
  correlation_id text,
  idempotency_key text,
  deliver_after timestamptz,
  retry text,
  occurred_at timestamptz not null,
  checked boolean not null,
  payload text not null,
  payload_bytes bytea,
  attempts integer not null,
  due_at timestamptz not null,
  -- True if it is here only because of deliver_after and was never tried: until it is due it stops nobody.
  delayed boolean not null,
  last_error text,
  first_attempt_at timestamptz,
  last_attempt_at timestamptz,
  primary key (subscription, position)
);

-- Is something due in this lane, and when is the next?
create index "{prefix}_parked_due" on {parked} (subscription, lane, due_at);
-- Is something of this key in the way? Rows that wait for their time are apart, so that a thousand reminders of one key are not
-- looked at for each of its events.
create index "{prefix}_parked_key" on {parked} (subscription, lane, key, delayed, due_at, position);

-- What was given up, each with a copy of the event. They outlive the event and the subscription.
create table {dead} (
  dead_id bigint generated always as identity primary key,
  subscription text not null,
  position bigint not null,
  lane smallint not null,
  id uuid not null,
  key text,
  event_type text not null,
  event_version text not null,
  topic text not null,
  aggregate_type text,
  aggregate_id text,
  version bigint,
  tenant_id text,
  content_type text not null,
  headers text,
  correlation_id text,
  idempotency_key text,
  deliver_after timestamptz,
  retry text,
  occurred_at timestamptz not null,
  checked boolean not null,
  payload text not null,
  payload_bytes bytea,
  reason text not null,
  error text not null,
  attempts integer not null,
  -- True if its key waits for a person.
  holds boolean not null,
  moved_at timestamptz not null,
  -- null, or what a person did: replayed, edited, discarded, reset.
  resolution text,
  resolved_at timestamptz,
  resolved_by text,
  -- The id under which an edited one was sent again.
  new_id uuid
);

create index "{prefix}_dead_position" on {dead} (subscription, position);
create index "{prefix}_dead_open" on {dead} (subscription) where resolution is null;
create index "{prefix}_dead_resolved" on {dead} (resolved_at) where resolved_at is not null;
create index "{prefix}_dead_new" on {dead} (new_id) where new_id is not null;
-- Is this key held by a dead letter? (The number makes its order one that no other index has.)
create index "{prefix}_dead_holds" on {dead} (subscription, lane, key, position, dead_id) where resolution is null and holds;

-- What was not a plain success, and what operators did.
create table {journal} (
  journal_id bigint generated always as identity primary key,
  at timestamptz not null,
  -- failed, delivered, dead, replayed, edited, discarded, paused, resumed, reset, dropped
  what text not null,
  subscription text,
  position bigint,
  id uuid,
  attempt integer,
  detail text,
  -- A relay or an operator.
  done_by text not null,
  -- How long the delivery took, in microseconds.
  took bigint
);

create index "{prefix}_journal_position" on {journal} (position) where position is not null;
create index "{prefix}_journal_at" on {journal} (at);

-- The last number drawn for each aggregate that asks for numbers.
create table {sequences} (
  aggregate_type text not null,
  aggregate_id text not null,
  last bigint not null,
  primary key (aggregate_type, aggregate_id)
);

-- The consumer's side: what a group has processed, and the last version of each entity it has seen.
create table {inbox} (
  consumer_group text not null,
  event_id uuid not null,
  processed_at timestamptz not null default clock_timestamp(),
  primary key (consumer_group, event_id)
);

create table {inbox_versions} (
  consumer_group text not null,
  entity text not null,
  version bigint not null,
  updated_at timestamptz not null default clock_timestamp(),
  primary key (consumer_group, entity)
);

-- Whether a cursor has passed an event: the rule in one place, for views, pruning and operators. (Written so that the planner puts it
-- into the statement that uses it.) Before the first window, where the end sees nothing, a position is all there is of a cursor.
create function {passed}(xid xid8, event_position bigint, from_snapshot pg_snapshot, to_snapshot pg_snapshot, after_position bigint)
returns boolean language sql immutable parallel safe as $$
  select pg_visible_in_snapshot(xid, from_snapshot)
    or (event_position <= after_position
      and (pg_visible_in_snapshot(xid, to_snapshot) or pg_snapshot_xmax(to_snapshot) = '1'))
$$;
