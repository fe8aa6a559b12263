//! An outbox in a file of its own, and ways to ask it how things stand.

use std::time::Duration;

use posthaste::{
    Event, EventBuilder, EventId, EventStatus, LISTENERS, Outbox, Relay, RelayBuilder, StatusWord,
    sqlite::{self, SqlitePool},
};
use tempfile::TempDir;
use tokio::{sync::mpsc, time::timeout};

/// Far longer than anything takes on a slow machine.
const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) struct Fixture {
    pub(crate) outbox: Outbox,
    pub(crate) pool: SqlitePool,
    _folder: TempDir,
}

impl Fixture {
    pub(crate) async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}", folder.path().join("shop.db").display());
        let outbox = Outbox::open(&url).await.unwrap();
        let pool = sqlite::pool(&url).await.unwrap();
        sqlx::query("create table users (name text not null)").execute(&pool).await.unwrap();
        Self { outbox, pool, _folder: folder }
    }

    /// Starts the relay and waits until it holds every lane, so that nothing depends on how fast that goes.
    pub(crate) async fn start(&self, relay: RelayBuilder) -> Relay {
        let relay = relay.start().await.unwrap();
        self.wait_until("the relay holds all lanes", async || {
            let status = self.outbox.admin().status().await.unwrap();
            status.subscriptions.iter().all(|found| found.lanes_held == u64::from(status.lanes))
        })
        .await;
        relay
    }

    /// How many rows a table has.
    pub(crate) async fn rows(&self, table: &'static str) -> i64 {
        let query = format!("select count(*) from {table}");
        sqlx::query_scalar(sqlx::AssertSqlSafe(query)).fetch_one(&self.pool).await.unwrap()
    }

    /// How the event stands with the listeners.
    pub(crate) async fn status(&self, id: EventId) -> EventStatus {
        let timeline = self.outbox.admin().show(id).await.unwrap();
        timeline.event.statuses.into_iter().find(|status| status.subscription == LISTENERS).unwrap()
    }

    pub(crate) async fn wait_for_status(&self, id: EventId, word: StatusWord) {
        self.wait_until(word.as_str(), async || self.status(id).await.status == word).await;
    }

    pub(crate) async fn wait_until(&self, what: &str, mut condition: impl AsyncFnMut() -> bool) {
        let asking = async {
            while !condition().await {
                // Waits for a condition.
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(PATIENCE, asking).await.unwrap_or_else(|_| panic!("waited too long until {what}"));
    }
}

/// The next that a listener says.
pub(crate) async fn next<T>(channel: &mut mpsc::Receiver<T>) -> T {
    timeout(PATIENCE, channel.recv()).await.expect("a listener says something in time").unwrap()
}

/// An event without a key.
pub(crate) fn event(event_type: &'static str) -> EventBuilder {
    Event::of(event_type).json(&serde_json::json!({ "name": "Ada" })).unwrap()
}
