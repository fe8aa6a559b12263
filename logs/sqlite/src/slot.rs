//! One connection for one purpose, opened when it is needed and opened again after trouble.

use std::{
    ops::{Deref, DerefMut},
    time::{Duration, Instant},
};

use posthaste_core::Result;
use sqlx::{ConnectOptions, Connection, Sqlite, SqliteConnection, Transaction, sqlite::SqliteConnectOptions};
use tokio::sync::{Mutex, MutexGuard};

use crate::error::{failed, is_busy};

/// A place for one connection. Whoever works with it has it alone.
pub(crate) struct Slot {
    options: SqliteConnectOptions,
    connection: Mutex<Option<SqliteConnection>>,
}

impl Slot {
    pub(crate) fn new(options: SqliteConnectOptions) -> Self {
        Self { options, connection: Mutex::new(None) }
    }

    /// Takes the connection out, and opens one if there is none.
    pub(crate) async fn take(&self) -> Result<Taken<'_>> {
        let mut place = self.connection.lock().await;
        let connection = match place.take() {
            Some(connection) => connection,
            None => connect(&self.options).await.map_err(failed("open the database"))?,
        };
        Ok(Taken { place, connection })
    }
}

/// Opens a connection. To give a new file its write-ahead log SQLite wants the file alone for a moment, and does not wait for
/// that as it does for everything else: of those that create a log at the same time all but one have to try again.
async fn connect(options: &SqliteConnectOptions) -> sqlx::Result<SqliteConnection> {
    const PATIENCE: Duration = Duration::from_secs(5);
    const PAUSE: Duration = Duration::from_millis(10);
    let began = Instant::now();
    loop {
        match options.connect().await {
            Err(error) if is_busy(&error) && began.elapsed() < PATIENCE => tokio::time::sleep(PAUSE).await,
            answer => return answer,
        }
    }
}

/// A connection that was taken out of its slot. Only [`put_back`](Self::put_back) keeps it for the next: after an error, or
/// if the caller stopped waiting, nobody knows in what state it is, so it is closed, which also ends whatever
/// transaction it had open.
#[must_use = "a connection that is not put back is closed"]
pub(crate) struct Taken<'s> {
    place: MutexGuard<'s, Option<SqliteConnection>>,
    connection: SqliteConnection,
}

impl Taken<'_> {
    pub(crate) fn put_back(mut self) {
        *self.place = Some(self.connection);
    }

    /// Begins a transaction that writes. It waits for other writers here, at its beginning: one that begins to read and
    /// then wants to write could only be refused.
    pub(crate) async fn begin_immediate(&mut self) -> Result<Transaction<'_, Sqlite>> {
        self.connection.begin_with("begin immediate").await.map_err(failed("begin"))
    }

    /// Begins a transaction that only reads: everything in it is of one snapshot.
    pub(crate) async fn begin_read(&mut self) -> Result<Transaction<'_, Sqlite>> {
        self.connection.begin().await.map_err(failed("begin"))
    }
}

impl Deref for Taken<'_> {
    type Target = SqliteConnection;

    fn deref(&self) -> &SqliteConnection {
        &self.connection
    }
}

impl DerefMut for Taken<'_> {
    fn deref_mut(&mut self) -> &mut SqliteConnection {
        &mut self.connection
    }
}

/// Makes what the transaction did permanent.
pub(crate) async fn commit(tx: Transaction<'_, Sqlite>) -> Result<()> {
    tx.commit().await.map_err(failed("commit"))
}
