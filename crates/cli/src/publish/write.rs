//! Writing events: in a transaction of whichever database it is.

use posthaste::{
    Begin, Error, Event, Outbox, Published, Result,
    postgres::{self, PgPool},
    sqlite::{self, SqlitePool},
};

use crate::{desk::Desk, exit::judged};

/// So many events are one statement.
const STATEMENT: usize = 1_000;

/// Connections on which events are written.
pub(super) enum Writer {
    Sqlite(SqlitePool),
    Postgres(PgPool),
}

impl Writer {
    pub(super) async fn open(desk: &Desk) -> anyhow::Result<Self> {
        let url = desk.database.place.address.expose();
        Ok(match url.split(':').next() {
            Some("sqlite") => Writer::Sqlite(sqlite::pool(url).await?),
            _ => Writer::Postgres(postgres::pool(url).await?),
        })
    }

    /// Writes all of them in one transaction, or none.
    pub(super) async fn write(&self, outbox: &Outbox, events: Vec<Event>) -> anyhow::Result<Vec<Published>> {
        let written = match self {
            Writer::Sqlite(pool) => through(pool, outbox, events).await,
            Writer::Postgres(pool) => through(pool, outbox, events).await,
        };
        written.map_err(judged)
    }
}

async fn through<P: Begin>(pool: &P, outbox: &Outbox, events: Vec<Event>) -> Result<Vec<Published>> {
    outbox
        .transaction(pool, async |tx| {
            let mut published = Vec::with_capacity(events.len());
            for chunk in events.chunks(STATEMENT) {
                published.extend(tx.publish_many(chunk.to_vec()).await?);
            }
            Ok::<_, Error>(published)
        })
        .await
}
