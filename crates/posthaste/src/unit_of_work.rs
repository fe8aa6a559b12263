//! A transaction with its events: what `outbox.transaction(…)` hands to its closure.

use std::ops::{Deref, DerefMut};

use posthaste_core::{IntoEvent, Published, Result};

use crate::{Begin, Outbox, Staged};

/// A transaction in which events are published. It is the driver's own transaction for all other statements.
///
/// Its type names the pool and not the transaction, and it owns all it has, so that no lifetime is in it: with one, the compiler
/// could not see that the future of [`Outbox::transaction`] may be sent to another thread, and nobody could spawn it.
pub struct UnitOfWork<P: Begin> {
    pub(crate) outbox: Outbox,
    pub(crate) transaction: P::Transaction,
    pub(crate) staged: Staged,
}

impl<P: Begin> UnitOfWork<P> {
    /// Publishes one event in this transaction.
    pub async fn publish(&mut self, event: impl IntoEvent) -> Result<Published> {
        let staged = self.outbox.publish(&mut self.transaction, event).await?;
        let published = staged.published[0];
        self.staged.add(staged);
        Ok(published)
    }

    /// Publishes many events in this transaction, in order.
    pub async fn publish_many<E: IntoEvent>(
        &mut self,
        events: impl IntoIterator<Item = E>,
    ) -> Result<Vec<Published>> {
        let staged = self.outbox.publish_many(&mut self.transaction, events).await?;
        let published = staged.published.clone();
        self.staged.add(staged);
        Ok(published)
    }
}

impl<P: Begin> Deref for UnitOfWork<P> {
    type Target = P::Transaction;

    fn deref(&self) -> &P::Transaction {
        &self.transaction
    }
}

impl<P: Begin> DerefMut for UnitOfWork<P> {
    fn deref_mut(&mut self) -> &mut P::Transaction {
        &mut self.transaction
    }
}
