//! An outbox in a database of its own, and ways to ask it how things stand.

use std::time::Duration;

use posthaste::{
    Event, EventBuilder, EventId, Outbox, Received, Relay, RelayBuilder, Settings, postgres::PgPool,
};
use sqlx::postgres::PgPoolOptions;
use tokio::{sync::mpsc, time::timeout};

use crate::database::Database;

/// Far longer than anything takes on a slow machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// A relay with these finds nothing by polling while a test looks: whatever arrives, somebody rang.
pub(crate) fn seldom_polling() -> Settings {
    let interval = Duration::from_secs(10);
    Settings { poll_min: interval, poll_max: interval, ..Settings::default() }
}

pub(crate) struct Fixture {
    pub(crate) outbox: Outbox,
    pub(crate) pool: PgPool,
    pub(crate) database: Database,
}

impl Fixture {
    pub(crate) async fn new() -> Self {
        let database = Database::create().await;
        let outbox = Outbox::open(&database.url()).await.unwrap();
        // As many as a test has tasks: they must wait for each other in the database, not for a connection.
        let pool = PgPoolOptions::new().max_connections(10).connect(&database.url()).await.unwrap();
        sqlx::query("create table users (name text not null)").execute(&pool).await.unwrap();
        Self { outbox, pool, database }
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

    pub(crate) async fn close(self) {
        self.database.close().await;
    }

    /// How many rows a table has.
    pub(crate) async fn rows(&self, table: &'static str) -> i64 {
        let query = format!("select count(*) from {table}");
        sqlx::query_scalar(sqlx::AssertSqlSafe(query)).fetch_one(&self.pool).await.unwrap()
    }

    /// Waits until so many deliveries are settled.
    pub(crate) async fn wait_until_settled(&self, deliveries: u64) {
        self.wait_until("everything is settled", async || {
            let status = self.outbox.admin().status().await.unwrap();
            status.subscriptions.iter().map(|found| found.delivered).sum::<u64>() >= deliveries
        })
        .await;
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

/// A relay with one listener for everything, and what it hears.
pub(crate) fn listening(outbox: &Outbox) -> (RelayBuilder, mpsc::Receiver<Received>) {
    let (heard, hears) = mpsc::channel(1_000);
    let relay = outbox.relay().listen_all(move |event| {
        let heard = heard.clone();
        async move { Ok(heard.send(event).await?) }
    });
    (relay, hears)
}

/// The next that a listener hears.
pub(crate) async fn next(hears: &mut mpsc::Receiver<Received>) -> Received {
    timeout(PATIENCE, hears.recv()).await.expect("a listener hears something in time").unwrap()
}

/// The id of the next that a listener hears.
pub(crate) async fn next_id(hears: &mut mpsc::Receiver<Received>) -> EventId {
    next(hears).await.id
}

/// An event without a key.
pub(crate) fn event(event_type: &'static str) -> EventBuilder {
    Event::of(event_type).json(&serde_json::json!({ "name": "Ada" })).unwrap()
}
