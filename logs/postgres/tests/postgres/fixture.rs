//! A log in a schema of its own, which goes when the test ends.

use std::{
    sync::atomic::{AtomicU32, Ordering},
    time::{Duration, Instant},
};

use posthaste_core::{
    Act, ActKind, Appended, Census, Cursor, Event, EventBuilder, EventId, EventRules, Hold, Lane, LaneSet,
    Lease, Limit, Log, Page, Payload, Position, Published, Read, RelayId, Stamp, Subscription, Timestamp,
    Unpublished,
};
use posthaste_postgres::{PgTransaction, PostgresLog, PostgresOptions};
use posthaste_services::postgres_url;
use posthaste_testkit::ManualClock;
use sqlx::{AssertSqlSafe, Connection, PgConnection};

use crate::{schema::Schema, walk::again};

/// The subscription of all tests here.
pub(crate) const SUB: &str = "billing";

/// Few lanes, so that tests have something in each.
pub(crate) const LANES: u8 = 8;

pub(crate) struct Fixture {
    pub(crate) clock: ManualClock,
    pub(crate) log: PostgresLog,
    last_id: AtomicU32,
    // Last, so that it goes last.
    pub(crate) schema: Schema,
}

impl Fixture {
    /// An empty log with 8 lanes.
    pub(crate) async fn new() -> Self {
        Self::in_schema(Schema::new()).await
    }

    /// The same in tables that others have used and will use.
    pub(crate) async fn reused() -> Self {
        Self::in_schema(Schema::reused()).await
    }

    async fn in_schema(schema: Schema) -> Self {
        let clock = ManualClock::default();
        let options = PostgresOptions {
            schema: Some(schema.name.clone()),
            lanes: Some(LANES),
            migrate: true,
            clock: Some(clock.shared()),
            ..PostgresOptions::default()
        };
        let log = PostgresLog::open(&postgres_url(), options).await.unwrap();
        Self { clock, log, last_id: AtomicU32::new(0), schema }
    }

    /// A log with the subscription, from the beginning.
    pub(crate) async fn subscribed() -> Self {
        let fixture = Self::new().await;
        fixture.log.subscribe(&Subscription::new(SUB)).await.unwrap();
        fixture
    }

    /// Options for the same tables that make nothing.
    pub(crate) fn options(&self) -> PostgresOptions {
        PostgresOptions {
            schema: Some(self.schema.name.clone()),
            clock: Some(self.clock.shared()),
            ..PostgresOptions::default()
        }
    }

    /// The same tables, opened once more, as another process would.
    pub(crate) async fn open_again(&self) -> PostgresLog {
        PostgresLog::open(&postgres_url(), self.options()).await.unwrap()
    }

    /// A connection as any program has one, where plain names mean this test's tables.
    pub(crate) async fn connect(&self) -> PgConnection {
        Self::connect_to(&self.schema.name).await
    }

    /// The same for any schema.
    pub(crate) async fn connect_to(schema: &str) -> PgConnection {
        let mut connection = PgConnection::connect(&postgres_url()).await.unwrap();
        let path = format!("set search_path = \"{schema}\"");
        sqlx::raw_sql(AssertSqlSafe(path)).execute(&mut connection).await.unwrap();
        connection
    }

    /// Runs plain SQL on such a connection.
    pub(crate) async fn run(&self, sql: &str) -> sqlx::Result<()> {
        run(&mut self.connect().await, sql).await
    }

    /// One number of plain SQL.
    pub(crate) async fn number(&self, sql: &str) -> i64 {
        number(&mut self.connect().await, sql).await
    }

    /// The event that this draft makes, with the next id.
    pub(crate) fn build(&self, draft: EventBuilder) -> Event {
        let number = self.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        let mut id = [7; 16];
        id[12..].copy_from_slice(&number.to_be_bytes());
        let stamp = Stamp { id: EventId::from_bytes(id), now: Timestamp(1_000) };
        draft.build(&EventRules::default(), stamp).unwrap()
    }

    /// A transaction of the application's.
    pub(crate) async fn begin(&self) -> PgTransaction<'static> {
        posthaste_postgres::begin(self.log.pool()).await.unwrap()
    }

    /// Publishes in such a transaction.
    pub(crate) async fn publish_in(
        &self,
        tx: &mut PgTransaction<'static>,
        drafts: impl IntoIterator<Item = EventBuilder>,
    ) -> Vec<Published> {
        let events: Vec<Event> = drafts.into_iter().map(|draft| self.build(draft)).collect();
        let unpublished = Unpublished { events: &events, fresh: true, spots: true };
        posthaste_postgres::publish(&mut **tx, self.log.place(), unpublished).await.unwrap()
    }

    /// Publishes in one transaction, and commits it.
    pub(crate) async fn publish(&self, drafts: impl IntoIterator<Item = EventBuilder>) -> Vec<Published> {
        let mut tx = self.begin().await;
        let published = self.publish_in(&mut tx, drafts).await;
        posthaste_postgres::commit(tx).await.unwrap();
        published
    }

    /// Publishes one event, of which nobody asks where it is.
    pub(crate) async fn publish_unasked(&self, draft: EventBuilder) -> Published {
        let events = [self.build(draft)];
        let mut tx = self.begin().await;
        let unpublished = Unpublished { events: &events, fresh: true, spots: false };
        let published = posthaste_postgres::publish(&mut *tx, self.log.place(), unpublished).await.unwrap();
        posthaste_postgres::commit(tx).await.unwrap();
        published[0]
    }

    /// Publishes one event in a transaction that stays open.
    pub(crate) async fn publish_and_wait(&self, key: &str) -> (PgTransaction<'static>, Position) {
        let mut tx = self.begin().await;
        let published = self.publish_in(&mut tx, [keyed(key)]).await;
        (tx, published[0].spot.unwrap().position)
    }

    /// Reads everything there is.
    pub(crate) async fn page(&self) -> Page {
        self.log.read(&everything()).await.unwrap()
    }

    /// Waits until this many wait for the transaction that is open on this connection, or for each other because of it.
    pub(crate) async fn wait_for_who_waits_for(&self, connection: &mut PgConnection, count: i64) {
        let pid = number(connection, "select pg_backend_pid()::bigint").await;
        let waiting = format!(
            "with recursive waiting (pid) as (
               select {pid}
               union
               select a.pid from waiting w join pg_stat_activity a on w.pid = any (pg_blocking_pids(a.pid)))
             select count(*) - 1 from waiting"
        );
        let deadline = Instant::now() + Duration::from_secs(30);
        let mut observer = self.connect().await;
        while number(&mut observer, &waiting).await < count {
            assert!(Instant::now() < deadline, "nobody waits");
            // Waits for a condition: somebody is blocked.
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Enrols a relay, or renews its lease.
    pub(crate) async fn hold(&self, relay_id: &str) -> Census {
        hold(&self.log, relay_id).await
    }

    pub(crate) async fn append(&self, relay_id: &str, acts: &[Act]) -> Vec<Appended> {
        self.log.append(SUB, &RelayId(relay_id.to_owned()), acts).await.unwrap()
    }
}

pub(crate) async fn hold(log: &PostgresLog, relay_id: &str) -> Census {
    let lease = lease(relay_id);
    match again(|| log.hold(&lease)).await {
        Hold::Alive(census) => census,
        Hold::Lost => panic!("the lease is lost"),
    }
}

pub(crate) async fn run(connection: &mut PgConnection, sql: &str) -> sqlx::Result<()> {
    sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(connection).await.map(drop)
}

pub(crate) async fn number(connection: &mut PgConnection, sql: &str) -> i64 {
    sqlx::query_scalar(AssertSqlSafe(sql.to_owned())).fetch_one(connection).await.unwrap()
}

/// An event with this key.
pub(crate) fn keyed(key: &str) -> EventBuilder {
    Event::of("order.placed").key(key).payload(Payload::Json(r#"{"total":1}"#.to_owned()))
}

pub(crate) fn lease(relay_id: &str) -> Lease {
    Lease {
        relay: RelayId(relay_id.to_owned()),
        host: "host".to_owned(),
        version: "1.0.0".to_owned(),
        subscriptions: vec![SUB.to_owned()],
        time: Duration::from_secs(15),
        first: true,
    }
}

pub(crate) fn act(lane: u8, n: i64, kind: ActKind, cursor: Cursor) -> Act {
    Act { lane: Lane(lane), n, kind, cursor, delivered: 0, changes: Vec::new() }
}

pub(crate) fn everything() -> Read {
    Read {
        subscription: SUB.to_owned(),
        generation: 1,
        hold_dead: false,
        lanes: LaneSet::first(LANES),
        after: Cursor::default(),
        until: None,
        parked: LaneSet::first(LANES),
        limit: Limit { entries: 1_000, bytes: 10_000_000 },
    }
}
