//! The application's side: adding events inside a transaction that the caller owns.

use std::future::Future;

use crate::{Event, EventId, Lane, Position, Result};

/// A transaction of the caller's, in which events can be published. Drivers implement it for transaction types
/// only, never for pools or plain connections: publishing outside a transaction does not compile.
pub trait Transaction: Send {
    /// Adds the events to the log whose tables begin with `prefix`; one answer an event, in order. A duplicate (same
    /// topic and idempotency key) is answered with the first event's id and leaves the transaction usable.
    fn append<'a>(
        &'a mut self,
        prefix: &'a str,
        events: &'a [Event],
    ) -> impl Future<Output = Result<Vec<Published>>> + Send + 'a;
}

/// What publishing one event answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Published {
    /// The event's id; of the first one if this was a duplicate.
    pub id: EventId,
    /// Its place in the log.
    pub position: Position,
    /// Its lane.
    pub lane: Lane,
    /// Its number in its aggregate, if it has one.
    pub version: Option<i64>,
    /// It had been published before, and was not added again.
    pub duplicate: bool,
}

/// A transaction that Posthaste may commit, so that it sees the commit itself.
pub trait Commit: Transaction + Sized {
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
