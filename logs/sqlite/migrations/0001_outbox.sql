-- The tables of the outbox. {prefix}, {inbox} and {lanes} are replaced before this runs; everything else is as it stands,
-- and runs in SQLite 3.38 or newer, so that the shell of any current system can read and write the tables.
-- Times are integers: microseconds since 1970-01-01 00:00 UTC.

-- What must be known before anything else is believed: schema_version, lanes, layout. And what no row remembers: dropped_line and
-- dropped_generation, the highest numbers that a subscription had that was dropped. Those that are made later begin behind them.
create table "{prefix}_meta" (
  name text primary key,
  value text not null
) strict, without rowid;

-- The log: one row an event, appended, never changed. A plain
--   insert into {prefix} (topic, event_type, key, payload) values ('users', 'user.created', '42', '{"name":"Ada"}')
-- is a whole event. A position is never used twice, not even after everything was pruned (autoincrement).
create table "{prefix}" (
  position integer primary key autoincrement,
  id blob not null unique default (randomblob(16)) check (length(id) = 16),
  -- All events of one key are in one lane; an event without a key is in any. SQLite has no hash function, so one is made
  -- of the length, the last eight and the first eight characters and the first number in the text, each times a
  -- prime, then spread by one more multiplication. Every intermediate value stays below 2^63: beyond it SQLite would go on
  -- with floating point numbers without saying so. This stands before the payload so that a scan for lanes skips it.
  lane integer not null generated always as (
    ((case when key is not null then
        length(key) * 367219283
        + ifnull(unicode(substr(key, -1, 1)), 0) * 2147483629
        + ifnull(unicode(substr(key, -2, 1)), 0) * 1999999973
        + ifnull(unicode(substr(key, -3, 1)), 0) * 1876543241
        + ifnull(unicode(substr(key, -4, 1)), 0) * 1754321027
        + ifnull(unicode(substr(key, -5, 1)), 0) * 1610612741
        + ifnull(unicode(substr(key, -6, 1)), 0) * 1500450271
        + ifnull(unicode(substr(key, -7, 1)), 0) * 1402946771
        + ifnull(unicode(substr(key, -8, 1)), 0) * 1299709
        + ifnull(unicode(substr(key, 1, 1)), 0) * 1160733781
        + ifnull(unicode(substr(key, 2, 1)), 0) * 1073676287
        + ifnull(unicode(substr(key, 3, 1)), 0) * 982451653
        + ifnull(unicode(substr(key, 4, 1)), 0) * 817504243
        + ifnull(unicode(substr(key, 5, 1)), 0) * 715225741
        + ifnull(unicode(substr(key, 6, 1)), 0) * 613651369
        + ifnull(unicode(substr(key, 7, 1)), 0) * 512927357
        + ifnull(unicode(substr(key, 8, 1)), 0) * 433494437
        + cast(ltrim(key, 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_:/.@# ') as integer) % 1000003 * 299999977
      else
        unicode(substr(hex(id), -1, 1)) * 2147483629
        + unicode(substr(hex(id), -2, 1)) * 1999999973
        + unicode(substr(hex(id), -3, 1)) * 1876543241
        + unicode(substr(hex(id), -4, 1)) * 1754321027
        + unicode(substr(hex(id), -5, 1)) * 1610612741
        + unicode(substr(hex(id), -6, 1)) * 1500450271
        + unicode(substr(hex(id), -7, 1)) * 1402946771
        + unicode(substr(hex(id), -8, 1)) * 1299709
      end) % 2147483647 * 2654435761 >> 29) % {lanes}
  ) stored,
  created_at integer not null default (cast(round((julianday('now') - 2440587.5) * 86400000.0) as integer) * 1000),
  -- 1 if the writer made sure that payload and headers can be read; then readers need not check each row again. Leave
  -- it alone in plain SQL: a row without it is checked whenever it is read, and one that is broken stops nothing.
  checked integer not null default 0,
  key text,
  event_type text not null check (event_type <> ''),
  topic text not null check (topic <> ''),
  event_version text not null default '1.0.0',
  aggregate_type text,
  aggregate_id text,
  version integer,
  tenant_id text,
  content_type text not null default 'application/json',
  -- A JSON object of texts, or null.
  headers text,
  correlation_id text,
  -- The second row with the same topic and idempotency key is refused; "on conflict do nothing" makes that harmless.
  idempotency_key text,
  deliver_after integer,
  -- What this event changes of the retry policy, as a JSON object, or null:
  --   {"max_attempts": 3, "base": "200ms", "multiplier": 2.0, "max": "1m"}
  retry text,
  occurred_at integer not null default (cast(round((julianday('now') - 2440587.5) * 86400000.0) as integer) * 1000),
  -- Text or bytes; last, because it is the largest.
  payload any not null check (typeof(payload) in ('text', 'blob'))
) strict;

create unique index "{prefix}_idempotency" on "{prefix}" (topic, idempotency_key) where idempotency_key is not null;

-- A position behind the last one may be behind the cursors too, and then nobody would ever deliver the event. (The last one is that
-- before this statement: SQLite writes it down when the statement is over.)
create trigger "{prefix}_position" after insert on "{prefix}"
when new.position <= coalesce((select seq from sqlite_sequence where name = '{prefix}'), 0)
begin
  select raise(abort, 'leave the position out: an event behind the last one would never be delivered');
end;

-- A row that is changed by hand, against the rule, is at least checked again.
create trigger "{prefix}_changed" after update of payload, headers, content_type on "{prefix}" when new.checked <> 0
begin
  update "{prefix}" set checked = 0 where position = new.position;
end;

-- The named readers of the log. What is not after started_after was never meant for the subscription.
create table "{prefix}_subscriptions" (
  name text primary key,
  filter text not null,
  event_order text not null,
  start text not null,
  started_after integer not null,
  paused integer not null default 0,
  generation integer not null,
  -- The number of the line with which each lane began.
  first_line integer not null,
  created_at integer not null default (cast(round((julianday('now') - 2440587.5) * 86400000.0) as integer) * 1000)
) strict, without rowid;

-- One row a live relay. A relay whose row is gone holds nothing, whatever the lines say.
create table "{prefix}_relays" (
  relay text primary key,
  host text not null,
  version text not null,
  -- A JSON array of the names it serves.
  subscriptions text not null,
  started_at integer not null,
  held_until integer not null
) strict, without rowid;

-- A chain of numbered lines for each lane of each subscription. The last one is the cursor and says who holds the lane.
create table "{prefix}_lines" (
  subscription text not null,
  lane integer not null,
  n integer not null,
  kind text not null check (kind in ('taken', 'settled', 'given_back', 'reset')),
  relay text,
  cursor integer not null,
  delivered integer not null default 0,
  -- Delivered in this line and in all before it, so that nobody has to add them up.
  delivered_total integer not null default 0,
  parked integer not null default 0,
  dead integer not null default 0,
  at integer not null,
  primary key (subscription, lane, n)
) strict, without rowid;

-- Only a reset can pass over an event without delivering it, and there are few: this finds them among all lines.
create index "{prefix}_lines_reset" on "{prefix}_lines" (subscription, lane, n, cursor) where kind = 'reset';

-- What failed and is tried again, what waits behind it, and what is not due yet: each with a copy of the event.
create table "{prefix}_parked" (
  subscription text not null,
  position integer not null,
  lane integer not null,
  id blob not null,
  key text,
  event_type text not null,
  event_version text not null,
  topic text not null,
  aggregate_type text,
  aggregate_id text,
  version integer,
  tenant_id text,
  content_type text not null,
  headers text,
  correlation_id text,
  idempotency_key text,
  deliver_after integer,
  retry text,
  occurred_at integer not null,
  checked integer not null,
  payload any not null,
  attempts integer not null,
  due_at integer not null,
  -- 1 if it is here only because of deliver_after and was never tried: until it is due it stops nobody.
  delayed integer not null,
  last_error text,
  first_attempt_at integer,
  last_attempt_at integer,
  primary key (subscription, position)
) strict;

-- Is something of this key in the way? Rows that wait for their time are apart, so that a thousand reminders of one key
-- are not looked at for each of its events.
create index "{prefix}_parked_key" on "{prefix}_parked" (subscription, lane, key, delayed, due_at, position);

-- Is something due in this lane, and when is the next?
create index "{prefix}_parked_due" on "{prefix}_parked" (subscription, lane, due_at);

-- What was given up, each with a copy of the event. They outlive the event and the subscription.
create table "{prefix}_dead" (
  dead_id integer primary key autoincrement,
  subscription text not null,
  position integer not null,
  lane integer not null,
  id blob not null,
  key text,
  event_type text not null,
  event_version text not null,
  topic text not null,
  aggregate_type text,
  aggregate_id text,
  version integer,
  tenant_id text,
  content_type text not null,
  headers text,
  correlation_id text,
  idempotency_key text,
  deliver_after integer,
  retry text,
  occurred_at integer not null,
  checked integer not null,
  payload any not null,
  reason text not null,
  error text not null,
  attempts integer not null,
  -- 1 if its key waits for a person.
  holds integer not null,
  moved_at integer not null,
  -- null, or what a person did: replayed, edited, discarded, reset.
  resolution text,
  resolved_at integer,
  resolved_by text,
  -- The id under which an edited one was sent again.
  new_id blob
) strict;

create index "{prefix}_dead_position" on "{prefix}_dead" (subscription, position);
create index "{prefix}_dead_open" on "{prefix}_dead" (subscription) where resolution is null;
create index "{prefix}_dead_resolved" on "{prefix}_dead" (resolved_at) where resolved_at is not null;
create index "{prefix}_dead_new" on "{prefix}_dead" (new_id) where new_id is not null;

-- Is this key held by a dead letter?
create index "{prefix}_dead_holds" on "{prefix}_dead" (subscription, lane, key, position)
  where resolution is null and holds = 1;

-- What was not a plain success, and what operators did. (autoincrement: the doorbell watches the last number.)
create table "{prefix}_journal" (
  journal_id integer primary key autoincrement,
  at integer not null,
  -- failed, delivered, dead, replayed, edited, discarded, paused, resumed, reset, dropped
  what text not null,
  subscription text,
  position integer,
  id blob,
  attempt integer,
  detail text,
  -- A relay or an operator.
  done_by text not null,
  -- How long the delivery took, in microseconds.
  took integer
) strict;

create index "{prefix}_journal_position" on "{prefix}_journal" (position) where position is not null;
create index "{prefix}_journal_at" on "{prefix}_journal" (at);

-- The last number drawn for each aggregate that asks for numbers.
create table "{prefix}_sequences" (
  aggregate_type text not null,
  aggregate_id text not null,
  last integer not null,
  primary key (aggregate_type, aggregate_id)
) strict, without rowid;

-- The consumer's side: what a group has processed, and the last version of each entity it has seen.
create table "{inbox}" (
  consumer_group text not null,
  event_id blob not null check (length(event_id) = 16),
  processed_at integer not null default (cast(round((julianday('now') - 2440587.5) * 86400000.0) as integer) * 1000),
  primary key (consumer_group, event_id)
) strict, without rowid;

create table "{inbox}_versions" (
  consumer_group text not null,
  entity text not null,
  version integer not null,
  updated_at integer not null default (cast(round((julianday('now') - 2440587.5) * 86400000.0) as integer) * 1000),
  primary key (consumer_group, entity)
) strict, without rowid;
