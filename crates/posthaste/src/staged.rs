//! What publishing gives back: the ids, and the way to hurry the delivery once the transaction is committed.

use std::sync::Arc;

use posthaste_core::{Entry, EventId, Published};

use crate::outbox::Inner;

/// Events that are published and wait for their transaction to commit.
#[must_use = "call dispatch() after the commit, or let outbox.commit(tx, staged) do both; without it delivery waits for the next poll"]
pub struct Staged {
    pub(crate) outbox: Arc<Inner>,
    pub(crate) published: Vec<Published>,
    /// Those that a relay in this process would deliver from memory.
    pub(crate) entries: Vec<Entry>,
}

impl Staged {
    /// Tells the relay in this process to read the log now, and relays in other processes soon, where the database has a bell for that
    /// (one that has only just started finds it by polling).
    /// To be called after the commit; harmless before it. It does not wait for anything.
    pub fn dispatch(self) {
        self.outbox.ring();
    }

    /// The id of the first event; of the one published before if it was a duplicate.
    ///
    /// # Panics
    /// If nothing was published, which only [`publish_many`](crate::Outbox::publish_many) with nothing does.
    #[must_use]
    pub fn id(&self) -> EventId {
        self.published.first().expect("at least one event was published").id
    }

    /// What publishing answered for each event, in order.
    #[must_use]
    pub fn published(&self) -> &[Published] {
        &self.published
    }

    /// Posthaste itself saw the commit: what has no order may be delivered from memory.
    pub(crate) fn committed(self) {
        let added = self.published.iter().filter(|published| !published.duplicate).count();
        if added > 0 {
            self.outbox.dispatch(&self.entries, added > self.entries.len());
        }
    }

    pub(crate) fn add(&mut self, other: Staged) {
        self.published.extend(other.published);
        self.entries.extend(other.entries);
    }
}

impl std::fmt::Debug for Staged {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Staged").field("published", &self.published).finish_non_exhaustive()
    }
}
