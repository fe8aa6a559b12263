//! A log in a file of its own, in a folder that goes when the test ends.

use std::sync::atomic::{AtomicU32, Ordering};

use posthaste_core::{Event, EventBuilder, EventId, EventRules, Published, Stamp, Timestamp};
use posthaste_sqlite::{SqliteLog, SqliteOptions};
use posthaste_testkit::ManualClock;
use tempfile::TempDir;

pub(crate) struct Fixture {
    pub(crate) folder: TempDir,
    pub(crate) clock: ManualClock,
    pub(crate) log: SqliteLog,
    last_id: AtomicU32,
}

impl Fixture {
    /// An empty log with this many lanes.
    pub(crate) async fn with_lanes(lanes: u8) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = ManualClock::default();
        let options = SqliteOptions {
            lanes: Some(lanes),
            migrate: true,
            clock: clock.shared(),
            ..SqliteOptions::default()
        };
        let log = SqliteLog::open(&url(&folder), options).await.unwrap();
        Self { folder, clock, log, last_id: AtomicU32::new(0) }
    }

    pub(crate) async fn new() -> Self {
        Self::with_lanes(8).await
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
        tx.commit().await.unwrap();
        published
    }
}

pub(crate) fn url(folder: &TempDir) -> String {
    format!("sqlite://{}", folder.path().join("shop.db").display())
}
