//! One connection for one purpose, opened when it is needed and opened again after trouble.

use std::{
    ops::{Deref, DerefMut},
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use posthaste_core::Result;
use sqlx::{ConnectOptions, Connection, Sqlite, SqliteConnection, Transaction, sqlite::SqliteConnectOptions};
use tokio::sync::{Mutex, MutexGuard};

use crate::error::{cannot_open, failed, is_busy};

/// A place for one connection. Whoever works with it has it alone.
pub(crate) struct Slot {
    options: SqliteConnectOptions,
    /// How long to wait for other writers.
    patience: Duration,
    connection: Mutex<Option<SqliteConnection>>,
    /// The connection knows something that is not true any more.
    outdated: AtomicBool,
}

impl Slot {
    pub(crate) fn new(options: SqliteConnectOptions, patience: Duration) -> Self {
        Self { options, patience, connection: Mutex::new(None), outdated: AtomicBool::new(false) }
    }

    /// Lets the connection be opened anew when it is needed next. Nobody waits for who works with it now.
    pub(crate) fn reopen(&self) {
        self.outdated.store(true, Ordering::Relaxed);
    }

    /// Closes the connection, if there is one, and waits until it is closed.
    pub(crate) async fn close(&self) -> Result<()> {
        match self.connection.lock().await.take() {
            Some(connection) => connection.close().await.map_err(failed("close the database")),
            None => Ok(()),
        }
    }

    /// Takes the connection out, and opens one if there is none.
    pub(crate) async fn take(&self) -> Result<Taken<'_>> {
        let mut place = self.connection.lock().await;
        let outdated = self.outdated.swap(false, Ordering::Relaxed);
        let connection = match place.take().filter(|_| !outdated) {
            Some(connection) => connection,
            None => connect(&self.options, self.patience).await?,
        };
        Ok(Taken { place, connection, patience: self.patience, is_open: false })
    }
}

/// Opens a connection. To give a new file its write-ahead log SQLite wants the file alone for a moment, and does not wait for
/// that as it does for everything else: of those that create a log at the same time all but one have to try again.
async fn connect(options: &SqliteConnectOptions, patience: Duration) -> Result<SqliteConnection> {
    const PAUSE: Duration = Duration::from_millis(10);
    let began = Instant::now();
    loop {
        match options.connect().await {
            Ok(connection) => return Ok(connection),
            Err(error) if is_busy(&error) && began.elapsed() < patience => tokio::time::sleep(PAUSE).await,
            Err(error) => return Err(cannot_open(options.get_filename(), error)),
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
    patience: Duration,
    /// A transaction that writes was begun and not ended.
    is_open: bool,
}

impl Taken<'_> {
    pub(crate) fn put_back(mut self) {
        if !self.is_open {
            *self.place = Some(self.connection);
        }
    }

    /// Begins a transaction that writes. It waits for other writers here, at its beginning: one that begins to read and
    /// then wants to write could only be refused.
    pub(crate) async fn begin_immediate(&mut self) -> Result<Begun<'_>> {
        let began = Instant::now();
        loop {
            match sqlx::query("begin immediate").execute(&mut self.connection).await {
                Ok(_) => break,
                // See `Source::settling`: the wait is SQLite's.
                Err(error) if is_busy(&error) && began.elapsed() < self.patience => {}
                Err(error) => return Err(failed("begin")(error)),
            }
        }
        self.is_open = true;
        Ok(Begun { connection: &mut self.connection, is_open: &mut self.is_open })
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

/// A transaction that writes. What is not committed is gone: a connection with an open transaction is closed, not kept.
pub(crate) struct Begun<'t> {
    connection: &'t mut SqliteConnection,
    is_open: &'t mut bool,
}

impl Begun<'_> {
    /// Makes what it did permanent.
    pub(crate) async fn commit(self) -> Result<()> {
        self.end("commit").await
    }

    /// Undoes what it did.
    pub(crate) async fn rollback(self) -> Result<()> {
        self.end("rollback").await
    }

    async fn end(self, how: &'static str) -> Result<()> {
        sqlx::query(how).execute(&mut *self.connection).await.map_err(failed(how))?;
        *self.is_open = false;
        Ok(())
    }
}

impl Deref for Begun<'_> {
    type Target = SqliteConnection;

    fn deref(&self) -> &SqliteConnection {
        self.connection
    }
}

impl DerefMut for Begun<'_> {
    fn deref_mut(&mut self) -> &mut SqliteConnection {
        self.connection
    }
}
