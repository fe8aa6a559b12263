//! Transactions of the application's: sqlx's own, begun as SQLite wants it.

use posthaste_core::{Event, EventId, Position, Published, Result};
use sqlx::{SqlitePool, SqliteTransaction, sqlite::SqlitePoolOptions};

use crate::{
    error::failed,
    options::{Source, SqliteOptions},
    writer,
};

/// An application's transactions wait for each other anyway; these are for reading beside them.
const POOL_SIZE: u32 = 4;

/// The ids of the events at these positions, as the transaction sees them.
pub async fn find(
    tx: &mut SqliteTransaction<'_>,
    prefix: &str,
    positions: &[Position],
) -> Result<Vec<EventId>> {
    writer::find(tx, prefix, positions).await
}

/// A small pool on the file that `url` names, for an application: write-ahead log, foreign keys, and what it commits is on
/// the disk. Creates the file if there is none.
pub async fn pool(url: &str) -> Result<SqlitePool> {
    let options = SqliteOptions { migrate: true, create: true, ..SqliteOptions::default() };
    Ok(lazy_pool(&Source::parse(url, &options)?))
}

/// A pool whose connections are opened when they are needed.
pub(crate) fn lazy_pool(source: &Source) -> SqlitePool {
    SqlitePoolOptions::new().max_connections(POOL_SIZE).connect_lazy_with(source.application())
}

/// Begins a transaction that will write. It waits for other writers here, at its beginning: one that begins to read and then
/// wants to write can only be refused.
pub async fn begin(pool: &SqlitePool) -> Result<SqliteTransaction<'static>> {
    pool.begin_with("begin immediate").await.map_err(failed("begin"))
}

/// Adds the events to the log whose tables begin with `prefix`, in this transaction; one answer an event, in order.
///
/// A duplicate (same topic and idempotency key) is answered with the first event's id. After an error nothing of the call is
/// in the transaction, which stays usable.
pub async fn publish(
    transaction: &mut SqliteTransaction<'_>,
    prefix: &str,
    events: &[Event],
) -> Result<Vec<Published>> {
    writer::publish(transaction, prefix, events).await
}

/// Makes everything in the transaction permanent.
pub async fn commit(transaction: SqliteTransaction<'_>) -> Result<()> {
    transaction.commit().await.map_err(failed("commit"))
}
