//! One connection for one purpose, opened when it is needed and opened again after trouble.

use std::{
    collections::HashMap,
    ops::{Deref, DerefMut},
    sync::{Arc, Mutex as Registry, PoisonError},
};

use posthaste_core::{Error, ErrorKind, Result};
use sqlx::{AssertSqlSafe, ConnectOptions, Executor, PgConnection, Row, postgres::PgConnectOptions};
use tokio::sync::{Mutex, MutexGuard};

use crate::{
    error::failed,
    options::{BEGIN, Purpose, Source},
};

/// The right to a slot's connection, whether there is one or not.
pub(crate) type Turn<'s> = MutexGuard<'s, Option<PgConnection>>;

/// A place for one connection. Whoever works with it has it alone.
pub(crate) struct Slot {
    options: PgConnectOptions,
    /// What begins each piece of work, behind a pooler.
    opening: Option<String>,
    /// The database cluster that this log belongs to, once that is known.
    cluster: Option<String>,
    connection: Mutex<Option<PgConnection>>,
}

impl Slot {
    pub(crate) fn new(source: &Source, purpose: Purpose, cluster: Option<&str>) -> Self {
        Self {
            options: source.connect_options(purpose),
            opening: source.opening(purpose),
            cluster: cluster.map(str::to_owned),
            connection: Mutex::new(None),
        }
    }

    /// Takes the connection out, and opens one if there is none.
    pub(crate) async fn take(&self) -> Result<Taken<'_>> {
        self.take_from(self.wait().await).await
    }

    /// Waits until nobody works with it. Who stops waiting has done nothing.
    pub(crate) async fn wait(&self) -> Turn<'_> {
        self.connection.lock().await
    }

    /// As [`take`](Self::take), for who has waited.
    pub(crate) async fn take_from<'s>(&'s self, mut turn: Turn<'s>) -> Result<Taken<'s>> {
        let connection = match turn.take() {
            Some(connection) => connection,
            None => self.connect().await?,
        };
        let mut taken = Taken { turn, connection, began: false };
        if let Some(opening) = &self.opening {
            taken.open(opening.clone()).await?;
        }
        Ok(taken)
    }

    async fn connect(&self) -> Result<PgConnection> {
        let mut connection = self.options.connect().await.map_err(failed("open the database"))?;
        if let Some(expected) = &self.cluster {
            let found = cluster(&mut connection).await?;
            check_cluster(expected, &found)?;
        }
        Ok(connection)
    }
}

/// The name that `initdb` gave to the database cluster; a copy restored elsewhere has another.
pub(crate) async fn cluster(connection: &mut PgConnection) -> Result<String> {
    let row = connection
        .fetch_one("select system_identifier::text from pg_control_system()")
        .await
        .map_err(failed("ask which database cluster this is"))?;
    row.try_get(0).map_err(failed("ask which database cluster this is"))
}

/// In another cluster transaction ids begin anew, and every stored cursor would skip events or repeat them.
pub(crate) fn check_cluster(expected: &str, found: &str) -> Result<()> {
    if expected == found {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Schema,
        format!(
            "the tables were made in database cluster {expected}, and this is {found}: they were restored or upgraded; run \
             `posthaste migrate --adopt` once, while no relay runs, so that cursors fit again"
        ),
    ))
}

/// Connections of the same kind, one for each name.
pub(crate) struct Slots {
    source: Source,
    cluster: Option<String>,
    slots: Registry<HashMap<String, Arc<Slot>>>,
}

impl Slots {
    pub(crate) fn new(source: Source, cluster: Option<&str>) -> Self {
        Self { source, cluster: cluster.map(str::to_owned), slots: Registry::default() }
    }

    pub(crate) fn of(&self, name: &str) -> Arc<Slot> {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(slot) = slots.get(name) {
            return Arc::clone(slot);
        }
        let slot = Arc::new(Slot::new(&self.source, Purpose::Relaying, self.cluster.as_deref()));
        slots.insert(name.to_owned(), Arc::clone(&slot));
        slot
    }
}

/// A connection that was taken out of its slot. Only [`put_back`](Self::put_back) keeps it for the next: after an error, or if the
/// caller stopped waiting, nobody knows in what state it is, so it is closed, which also undoes whatever it had begun.
#[must_use = "a connection that is not put back is closed"]
pub(crate) struct Taken<'s> {
    turn: Turn<'s>,
    connection: PgConnection,
    began: bool,
}

impl Taken<'_> {
    /// Begins a transaction, if there is none. [`put_back`](Self::put_back) makes it permanent.
    pub(crate) async fn begin(&mut self) -> Result<()> {
        if self.began { Ok(()) } else { self.open(BEGIN.to_owned()).await }
    }

    async fn open(&mut self, sql: String) -> Result<()> {
        sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut self.connection).await.map_err(failed("begin"))?;
        self.began = true;
        Ok(())
    }

    /// Makes what was done permanent and keeps the connection.
    pub(crate) async fn put_back(mut self) -> Result<()> {
        if self.began {
            sqlx::raw_sql("commit").execute(&mut self.connection).await.map_err(failed("commit"))?;
        }
        *self.turn = Some(self.connection);
        Ok(())
    }
}

impl Deref for Taken<'_> {
    type Target = PgConnection;

    fn deref(&self) -> &PgConnection {
        &self.connection
    }
}

impl DerefMut for Taken<'_> {
    fn deref_mut(&mut self) -> &mut PgConnection {
        &mut self.connection
    }
}
