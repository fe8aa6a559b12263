//! The database that is measured: a temporary SQLite file with an outbox and a table of the application's own.

use posthaste::{Error, ErrorKind, Event, EventBuilder, Outbox, Result, sqlite};
use tempfile::TempDir;

/// A shop on a temporary file.
pub(crate) struct Shop {
    pub(crate) outbox: Outbox,
    pub(crate) pool: sqlite::SqlitePool,
    /// Deleted when dropped.
    _folder: TempDir,
}

impl Shop {
    pub(crate) async fn open() -> Result<Self> {
        let folder = tempfile::tempdir().map_err(unexpected("make a temporary folder"))?;
        let url = format!("sqlite://{}", folder.path().join("shop.db").display());
        let outbox = Outbox::open(&url).await?;
        let pool = sqlite::pool(&url).await?;
        sqlx::query(
            "create table orders (id integer primary key, customer text not null, amount integer not null)",
        )
        .execute(&pool)
        .await
        .map_err(unexpected("create the shop's table"))?;
        Ok(Self { outbox, pool, _folder: folder })
    }

    /// Publishes so many small events, with 1,000 keys, 10,000 to a transaction.
    pub(crate) async fn fill(&self, events: u64) -> Result<()> {
        const STEP: u64 = 10_000;
        for first in (0..events).step_by(STEP as usize) {
            self.outbox
                .transaction(&self.pool, async |tx| {
                    tx.publish_many((first..events.min(first + STEP)).map(small_event)).await.map(drop)
                })
                .await?;
        }
        Ok(())
    }
}

/// An event with a payload of about 120 bytes.
pub(crate) fn small_event(number: u64) -> EventBuilder {
    let payload = format!(
        "{{\"order\":{number},\"customer\":\"customer-{:05}\",\"amount\":{},\"currency\":\"EUR\",\"note\":\"{}\"}}",
        number % 1_000,
        number % 9_973,
        "x".repeat(32)
    );
    Event::of("order.placed")
        .topic("orders")
        .key(format!("customer-{:05}", number % 1_000))
        .payload(posthaste::Payload::Json(payload))
}

pub(crate) fn unexpected<E: Into<Box<dyn std::error::Error + Send + Sync>>>(
    what: &'static str,
) -> impl FnOnce(E) -> Error {
    move |error| Error::new(ErrorKind::Unexpected, what).with_source(error)
}
