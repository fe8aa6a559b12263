//! The caller's transaction, with the driver he has. Implemented for transactions only, never for pools or plain
//! connections: publishing outside a transaction does not compile.
//!
//! The traits stand here, and not in the core, because only their own crate may implement them for the drivers' types.

use std::future::Future;

use posthaste_core::{Event, EventId, Position, Published, Result};

/// A transaction of the caller's, in which events can be published.
pub trait Transaction: Send {
    /// Adds the events to the log whose tables begin with `prefix`; one answer an event, in order. A duplicate (same
    /// topic and idempotency key) is answered with the first event's id and leaves the transaction usable.
    fn append<'a>(
        &'a mut self,
        prefix: &'a str,
        events: &'a [Event],
    ) -> impl Future<Output = Result<Vec<Published>>> + Send + 'a;
}

/// A transaction that Posthaste may commit, so that it sees the commit itself.
pub trait Commit: Transaction + Sized {
    /// The ids of the events at these positions, as the transaction sees them: what was published in a savepoint that
    /// was rolled back is not among them.
    fn find<'a>(
        &'a mut self,
        prefix: &'a str,
        positions: &'a [Position],
    ) -> impl Future<Output = Result<Vec<EventId>>> + Send + 'a;

    /// Commits it.
    fn commit(self) -> impl Future<Output = Result<()>> + Send;
}

/// Where transactions begin: a pool of connections.
pub trait Begin: Sync {
    /// What it begins.
    type Transaction: Commit;

    /// Begins a transaction that will write.
    fn begin(&self) -> impl Future<Output = Result<Self::Transaction>> + Send;
}

#[cfg(feature = "sqlite")]
mod sqlite {
    use posthaste_sqlite::{SqlitePool, SqliteTransaction};

    use super::{Begin, Commit, Event, EventId, Future, Position, Published, Result, Transaction};

    impl Transaction for SqliteTransaction<'_> {
        fn append<'a>(
            &'a mut self,
            prefix: &'a str,
            events: &'a [Event],
        ) -> impl Future<Output = Result<Vec<Published>>> + Send + 'a {
            posthaste_sqlite::publish(self, prefix, events)
        }
    }

    impl Commit for SqliteTransaction<'_> {
        fn find<'a>(
            &'a mut self,
            prefix: &'a str,
            positions: &'a [Position],
        ) -> impl Future<Output = Result<Vec<EventId>>> + Send + 'a {
            posthaste_sqlite::find(self, prefix, positions)
        }

        fn commit(self) -> impl Future<Output = Result<()>> + Send {
            posthaste_sqlite::commit(self)
        }
    }

    impl Begin for SqlitePool {
        type Transaction = SqliteTransaction<'static>;

        fn begin(&self) -> impl Future<Output = Result<Self::Transaction>> + Send {
            posthaste_sqlite::begin(self)
        }
    }
}
