-- What is compared with the outbox: orders, and three tables of events with a status column.
create table orders (id bigint generated always as identity primary key, customer text not null, amount bigint not null);

-- The least that works.
create table classic (
  id uuid primary key default gen_random_uuid(),
  topic text not null,
  event_type text not null,
  key text,
  payload jsonb not null,
  status text not null default 'pending',
  attempts integer not null default 0,
  created_at timestamptz not null default now(),
  published_at timestamptz
);
create index on classic (created_at) where status = 'pending';

-- What most have: when to try again, an index to poll by, and one to see what happened to an aggregate.
create table polled (
  id uuid primary key default gen_random_uuid(),
  aggregate_type varchar(50) not null,
  aggregate_id varchar(255) not null,
  event_type varchar(100) not null,
  payload jsonb not null,
  occurred_at timestamptz not null default now(),
  status varchar(20) not null default 'PENDING',
  retry_count integer not null default 0,
  next_attempt_at timestamptz not null default now(),
  last_error text,
  processed_at timestamptz
);
create index on polled (status, next_attempt_at);
create index on polled (aggregate_type, aggregate_id);

-- One that does more of what the outbox does: a sequence number, retries with settings of their own, checks, and indexes by which people search.
create table retrying (
  id varchar(32) primary key,
  aggregate_id varchar(255) not null,
  aggregate_type varchar(50) not null,
  event_type varchar(100) not null,
  payload jsonb not null,
  metadata jsonb not null default '{}',
  sequence bigserial,
  created_at timestamptz not null default now(),
  attempts integer not null default 0,
  status varchar(20) not null default 'pending' check (status in ('pending', 'processing', 'delivered', 'failed', 'dead')),
  first_attempt_at timestamptz,
  last_attempt_at timestamptz,
  next_retry_at timestamptz,
  delivered_at timestamptz,
  topic varchar(255) not null,
  key varchar(255),
  max_attempts integer not null default 5,
  base_delay_ms integer not null default 1000,
  max_delay_ms integer not null default 60000,
  multiplier decimal(3, 2) not null default 2.0,
  check (max_attempts > 0 and base_delay_ms > 0 and max_delay_ms >= base_delay_ms)
);
create index on retrying (status);
create index on retrying (next_retry_at) where status in ('pending', 'failed');
create index on retrying (aggregate_id, aggregate_type, sequence);
create index on retrying (created_at);
create index on retrying (event_type);
