//! A log in a file of its own, in a folder that goes when the test ends.

use std::{
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use posthaste_core::{
    Act, ActKind, Appended, Census, Cursor, Event, EventBuilder, EventId, EventRules, Hold, Lane, LaneSet,
    Lease, Limit, Log, Page, Payload, Position, Published, Read, RelayId, Stamp, Subscription, Timestamp,
};
use posthaste_sqlite::{SqliteLog, SqliteOptions};
use posthaste_testkit::ManualClock;
use tempfile::TempDir;

/// The subscription of all tests here.
pub(crate) const SUB: &str = "billing";

/// A trigger that takes no dead letter.
pub(crate) const REFUSE_DEAD: &str = "create trigger refuse before insert on outbox_dead begin select raise(abort, 'no room for the dead'); end";

pub(crate) struct Fixture {
    folder: TempDir,
    pub(crate) clock: ManualClock,
    pub(crate) log: SqliteLog,
    last_id: AtomicU32,
}

impl Fixture {
    /// An empty log with 8 lanes.
    pub(crate) async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = ManualClock::default();
        let options = SqliteOptions {
            lanes: Some(8),
            migrate: true,
            clock: clock.shared(),
            ..SqliteOptions::default()
        };
        let log = SqliteLog::open(&url(&folder), options).await.unwrap();
        Self { folder, clock, log, last_id: AtomicU32::new(0) }
    }

    /// A log with the subscription, from the beginning.
    pub(crate) async fn subscribed() -> Self {
        let fixture = Self::new().await;
        fixture.log.subscribe(&Subscription::new(SUB)).await.unwrap();
        fixture
    }

    /// The same file, opened once more, as another process would.
    pub(crate) async fn open_again(&self) -> SqliteLog {
        SqliteLog::open(&self.url(), self.options()).await.unwrap()
    }

    /// Options for the same file that make nothing.
    pub(crate) fn options(&self) -> SqliteOptions {
        SqliteOptions { clock: self.clock.shared(), ..SqliteOptions::default() }
    }

    pub(crate) fn url(&self) -> String {
        url(&self.folder)
    }

    /// The event that this draft makes, with the next id.
    pub(crate) fn build(&self, draft: EventBuilder) -> Event {
        let number = self.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        let mut id = [7; 16];
        id[12..].copy_from_slice(&number.to_be_bytes());
        let stamp = Stamp { id: EventId::from_bytes(id), now: Timestamp(1_000) };
        draft.build(&EventRules::default(), stamp).unwrap()
    }

    /// Publishes in one transaction, and commits it.
    pub(crate) async fn publish(&self, drafts: impl IntoIterator<Item = EventBuilder>) -> Vec<Published> {
        let events: Vec<Event> = drafts.into_iter().map(|draft| self.build(draft)).collect();
        let mut tx = posthaste_sqlite::begin(self.log.pool()).await.unwrap();
        let published = posthaste_sqlite::publish(&mut tx, "outbox", &events).await.unwrap();
        posthaste_sqlite::commit(tx).await.unwrap();
        published
    }

    /// Runs plain SQL, as another program would.
    pub(crate) async fn sql(&self, sql: &'static str) -> sqlx::Result<()> {
        sqlx::raw_sql(sql).execute(self.log.pool()).await.map(drop)
    }

    /// One number of plain SQL.
    pub(crate) async fn number(&self, sql: &'static str) -> i64 {
        sqlx::query_scalar(sql).fetch_one(self.log.pool()).await.unwrap()
    }

    /// Reads everything there is.
    pub(crate) async fn page(&self) -> Page {
        self.log.read(&everything()).await.unwrap()
    }

    /// Enrols a relay, or renews its lease.
    pub(crate) async fn hold(&self, relay_id: &str) -> Census {
        match self.log.hold(&lease(relay_id)).await.unwrap() {
            Hold::Alive(census) => census,
            Hold::Lost => panic!("the lease is lost"),
        }
    }

    pub(crate) async fn append(&self, relay_id: &str, acts: &[Act]) -> Vec<Appended> {
        self.log.append(SUB, &RelayId(relay_id.to_owned()), acts).await.unwrap()
    }
}

pub(crate) fn url(folder: &TempDir) -> String {
    format!("sqlite://{}", folder.path().join("shop.db").display())
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

pub(crate) fn act(lane: u8, n: i64, kind: ActKind, cursor: i64) -> Act {
    let cursor = Cursor::at(Position(cursor));
    Act { lane: Lane(lane), n, kind, cursor, delivered: 0, changes: Vec::new() }
}

pub(crate) fn everything() -> Read {
    Read {
        subscription: SUB.to_owned(),
        generation: 1,
        hold_dead: false,
        lanes: LaneSet::first(8),
        after: Cursor::default(),
        until: None,
        parked: LaneSet::first(8),
        limit: Limit { entries: 1_000, bytes: 10_000_000 },
    }
}
