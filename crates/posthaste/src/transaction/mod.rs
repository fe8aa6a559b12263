//! The caller's transaction, with the driver he has. Implemented for transactions only, never for pools or plain
//! connections: publishing outside a transaction does not compile.
//!
//! The traits stand here, and not in the core, because only their own crate may implement them for the drivers' types.

#[cfg(feature = "diesel-async")]
mod diesel_async;
#[cfg(feature = "postgres")]
pub(crate) mod postgres;
#[cfg(feature = "sea-orm")]
mod sea_orm;
#[cfg(feature = "sqlite")]
mod sqlite;
#[cfg(feature = "tokio-postgres")]
mod tokio_postgres;

use std::future::Future;

use posthaste_core::{EventId, Position, Published, Result, Unpublished};

use crate::Place;

/// A transaction of the caller's, in which events can be published.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a transaction of a driver that this build knows",
    note = "events are published inside a transaction or not at all: begin one, and pass it as `&mut tx`",
    note = "for a connection on which a transaction is open, see `posthaste::postgres::InTransaction`",
    note = "each driver needs its feature of posthaste"
)]
pub trait Transaction: Send {
    /// Adds the events to the log whose tables are at this place; one answer an event, in order. A duplicate (same
    /// topic and idempotency key) is answered with the first event's id and leaves the transaction usable.
    fn append<'a>(
        &'a mut self,
        place: &'a Place,
        events: Unpublished<'a>,
    ) -> impl Future<Output = Result<Vec<Published>>> + Send + 'a;
}

/// A transaction that Posthaste may commit, so that it sees the commit itself.
pub trait Commit: Transaction + Sized {
    /// The ids of the events at these positions, as the transaction sees them: what was published in a savepoint that
    /// was rolled back is not among them.
    fn find<'a>(
        &'a mut self,
        place: &'a Place,
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
