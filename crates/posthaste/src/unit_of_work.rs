//! A transaction with its events: what `outbox.transaction(…)` hands to its closure.

use std::ops::{Deref, DerefMut};

use posthaste_core::{IntoEvent, Published, Result, Transaction};

use crate::{Outbox, Staged};

/// A transaction in which events are published. It is the driver's own transaction for all other statements.
pub struct UnitOfWork<'o, T> {
    pub(crate) outbox: &'o Outbox,
    pub(crate) transaction: T,
    pub(crate) staged: Staged,
}

impl<T: Transaction> UnitOfWork<'_, T> {
    /// Publishes one event in this transaction.
    pub async fn publish(&mut self, event: impl IntoEvent) -> Result<Published> {
        let staged = self.outbox.publish(&mut self.transaction, event).await?;
        let published = staged.published[0];
        self.staged.add(staged);
        Ok(published)
    }

    /// Publishes many events in this transaction, in order.
    pub async fn publish_many<E: IntoEvent>(&mut self, events: impl IntoIterator<Item = E>) -> Result<Vec<Published>> {
        let staged = self.outbox.publish_many(&mut self.transaction, events).await?;
        let published = staged.published.clone();
        self.staged.add(staged);
        Ok(published)
    }
}

impl<T> Deref for UnitOfWork<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.transaction
    }
}

impl<T> DerefMut for UnitOfWork<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.transaction
    }
}
