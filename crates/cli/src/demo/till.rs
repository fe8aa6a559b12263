//! The shop's transactions, which also note when they committed: latency is counted from there.

use std::{
    ops::{Deref, DerefMut},
    sync::{Arc, OnceLock},
    time::Instant,
};

use posthaste::{
    Begin, Commit, Published, Result, Transaction, Unpublished,
    sqlite::{self, SqliteConnection, SqlitePool, SqliteTransaction},
};

/// Where one transaction begins. The time of its commit is read here when it is over.
pub(super) struct Till<'p> {
    pool: &'p SqlitePool,
    committed_at: Arc<OnceLock<Instant>>,
}

impl<'p> Till<'p> {
    pub(super) fn new(pool: &'p SqlitePool) -> Self {
        Self { pool, committed_at: Arc::default() }
    }

    /// When the transaction committed, if it did.
    pub(super) fn committed_at(&self) -> Option<Instant> {
        self.committed_at.get().copied()
    }
}

impl Begin for Till<'_> {
    type Transaction = Sale;

    async fn begin(&self) -> Result<Sale> {
        let transaction = sqlite::begin(self.pool).await?;
        Ok(Sale { transaction, committed_at: Arc::clone(&self.committed_at) })
    }
}

/// A transaction of the shop's.
pub(super) struct Sale {
    transaction: SqliteTransaction<'static>,
    committed_at: Arc<OnceLock<Instant>>,
}

impl Transaction for Sale {
    fn append<'a>(
        &'a mut self,
        place: &'a posthaste::Place,
        events: Unpublished<'a>,
    ) -> impl Future<Output = Result<Vec<Published>>> + Send + 'a {
        self.transaction.append(place, events)
    }
}

impl Commit for Sale {
    fn find<'a>(
        &'a mut self,
        place: &'a posthaste::Place,
        positions: &'a [posthaste::Position],
    ) -> impl Future<Output = Result<Vec<posthaste::EventId>>> + Send + 'a {
        self.transaction.find(place, positions)
    }

    async fn commit(self) -> Result<()> {
        Commit::commit(self.transaction).await?;
        _ = self.committed_at.set(Instant::now());
        Ok(())
    }
}

impl Deref for Sale {
    type Target = SqliteConnection;

    fn deref(&self) -> &SqliteConnection {
        &self.transaction
    }
}

impl DerefMut for Sale {
    fn deref_mut(&mut self) -> &mut SqliteConnection {
        &mut self.transaction
    }
}
