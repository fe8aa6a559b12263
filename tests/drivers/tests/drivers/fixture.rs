//! An outbox with a relay in a database of its own, and what has to be true of it whatever the driver.

use std::time::Duration;

use posthaste::{
    Event, EventBuilder, EventId, Outbox, Relay, Staged,
    postgres::{self, PgPool},
};
use tokio::{sync::mpsc, time::timeout};

use crate::database::Database;

/// Far longer than anything takes on a slow machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// What an application's own errors often are.
pub(crate) type Trouble = Box<dyn std::error::Error + Send + Sync>;

pub(crate) struct Shop {
    pub(crate) outbox: Outbox,
    hears: mpsc::Receiver<EventId>,
    relay: Relay,
    pool: PgPool,
    pub(crate) database: Database,
}

impl Shop {
    pub(crate) async fn open() -> Self {
        let database = Database::create().await;
        let outbox = Outbox::open(&database.url()).await.unwrap();
        let pool = postgres::pool(&database.url()).await.unwrap();
        sqlx::query("create table users (name text not null)").execute(&pool).await.unwrap();
        let (heard, hears) = mpsc::channel(100);
        let relay = outbox.relay().listen_all(move |event| {
            let heard = heard.clone();
            async move { Ok(heard.send(event.id).await?) }
        });
        let relay = relay.start().await.unwrap();
        Self { outbox, hears, relay, pool, database }
    }

    /// These were committed, together with so many users, and nothing else ever was.
    pub(crate) async fn expect(mut self, mut ids: Vec<EventId>, users: i64) {
        // What comes after everything: when it is heard of, nothing before it was missed.
        let marker = self.outbox.transaction(&self.pool, async |tx| tx.publish(event()).await);
        ids.push(marker.await.unwrap().id);
        let mut heard = Vec::new();
        for _ in &ids {
            let next = timeout(PATIENCE, self.hears.recv()).await;
            heard.push(next.expect("a listener hears it in time").unwrap());
        }
        self.relay.stop().await;
        heard.sort();
        ids.sort();
        assert_eq!(heard, ids, "what was committed is delivered");
        assert!(self.hears.try_recv().is_err(), "nothing else is delivered");
        let counts = "select (select count(*) from outbox), (select count(*) from users)";
        let counts: (i64, i64) = sqlx::query_as(counts).fetch_one(&self.pool).await.unwrap();
        let events = i64::try_from(ids.len()).unwrap();
        assert_eq!(counts, (events, users), "the application's own rows share the fate of the events");
        self.database.close().await;
    }
}

/// An event without a key.
pub(crate) fn event() -> EventBuilder {
    Event::of("user.created").json(&serde_json::json!({ "name": "Ada" })).unwrap()
}

/// An event that is published once, and draws a number.
pub(crate) fn once() -> EventBuilder {
    event().aggregate("user", 42).next_version().idempotency_key("user-42")
}

/// The repeat was recognised.
pub(crate) fn expect_repeat(first: &Staged, repeat: &Staged) {
    assert_eq!(first.id(), repeat.id());
    assert!(!first.published()[0].duplicate && repeat.published()[0].duplicate);
    assert_eq!((first.published()[0].version, repeat.published()[0].version), (Some(1), Some(1)));
}
