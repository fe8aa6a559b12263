//! A log as large as the pages that people open have to bear: millions of delivered events, of every hundred one dead letter, and one subscription that has
//! everything ahead of it. Filled by set-based SQL, but for the cursors: a relay has moved those.

use std::sync::Arc;

use posthaste::{Admin, Clock, Log, Result, Start, Subscription, SystemClock};
use posthaste_relay::RelayBuilder;
use sqlx::AssertSqlSafe;

use crate::{null_sink::Counted, postgres, shop};

/// How many events are written at a time.
const STEP: u64 = 10_000;

/// Tables that a server of one's own has counted and vacuumed long before a person looks.
const TABLES: [&str; 6] =
    ["outbox", "outbox_lines", "outbox_snapshots", "outbox_parked", "outbox_dead", "outbox_journal"];

/// A log that is filled, on SQLite or on PostgreSQL.
pub struct Stock {
    place: Place,
    log: Arc<dyn Log>,
    admin: Arc<dyn Admin>,
}

enum Place {
    Sqlite(shop::Shop),
    Postgres(postgres::shop::Shop),
}

impl Stock {
    /// Opens an empty log: in a schema of its own in this PostgreSQL database, or in a temporary file.
    pub async fn open(database: Option<&str>) -> Result<Self> {
        let Some(url) = database else {
            let shop = shop::Shop::open().await?;
            let driver = shop.outbox.driver();
            return Ok(Self { place: Place::Sqlite(shop), log: driver.clone(), admin: driver });
        };
        let shop = postgres::shop::Shop::open(url).await?;
        let log = Arc::clone(&shop.log);
        Ok(Self { place: Place::Postgres(shop), log: log.clone(), admin: log })
    }

    /// What operators can ask.
    #[must_use]
    pub fn admin(&self) -> Arc<dyn Admin> {
        Arc::clone(&self.admin)
    }

    /// Fills it: `billing` has delivered everything but for its dead letters, `search` nothing, and `mail` began after all of it.
    pub async fn fill(&self, events: u64, tell: &mut impl FnMut(&str)) -> Result<()> {
        tell(&format!("publishing {events} events"));
        for first in (1..=events).step_by(STEP as usize) {
            self.publish(first, events.min(first + STEP - 1), events).await?;
        }
        self.log.subscribe(&Subscription::new("search")).await?;
        tell("delivering them to one of three subscriptions");
        let sink = Counted::null(events);
        let relay = RelayBuilder::new(Arc::clone(&self.log))
            .subscribe(Subscription::new("billing"), Arc::new(sink.clone()))
            .start()
            .await?;
        sink.wait().await;
        relay.stop().await;
        self.log.subscribe(&Subscription { start: Start::Now, ..Subscription::new("mail") }).await?;
        tell(&format!("burying {} of them", events / 100));
        self.trouble().await
    }

    async fn publish(&self, first: u64, last: u64, events: u64) -> Result<()> {
        let [first, last, events] =
            [first, last, events].map(|number| i64::try_from(number).unwrap_or(i64::MAX));
        match &self.place {
            Place::Sqlite(shop) => {
                let query = sqlx::query(include_str!("../sql/sqlite_events.sql"));
                let query = query.bind(first).bind(last).bind(events).bind(SystemClock.now().0);
                query.execute(&shop.pool).await.map_err(shop::unexpected("publish"))?;
            }
            Place::Postgres(shop) => {
                let query = sqlx::query(include_str!("../sql/postgres_events.sql"));
                let query = query.bind(first).bind(last).bind(events);
                query.execute(&shop.pool).await.map_err(shop::unexpected("publish"))?;
            }
        }
        Ok(())
    }

    async fn trouble(&self) -> Result<()> {
        match &self.place {
            Place::Sqlite(shop) => {
                // One connection, on which the temporary table is.
                let mut connection =
                    shop.pool.acquire().await.map_err(shop::unexpected("get a connection"))?;
                for sql in [include_str!("../sql/sqlite_trouble.sql"), "pragma wal_checkpoint(truncate)"] {
                    sqlx::raw_sql(sql).execute(&mut *connection).await.map_err(shop::unexpected("bury"))?;
                }
            }
            Place::Postgres(shop) => {
                let sql = include_str!("../sql/postgres_trouble.sql");
                sqlx::raw_sql(sql).execute(&shop.pool).await.map_err(shop::unexpected("bury"))?;
                for sql in TABLES.map(|table| format!("vacuum analyze {table}")) {
                    let vacuumed = sqlx::raw_sql(AssertSqlSafe(sql)).execute(&shop.pool).await;
                    vacuumed.map_err(shop::unexpected("vacuum"))?;
                }
            }
        }
        Ok(())
    }

    /// Removes everything.
    pub async fn close(self) -> Result<()> {
        match self.place {
            // Its folder goes with it.
            Place::Sqlite(_) => Ok(()),
            Place::Postgres(shop) => shop.close().await,
        }
    }
}
