//! Publishing by an operator, in a transaction that has nothing else in it.

use async_trait::async_trait;
use posthaste::{Begin, EventBuilder, Outbox, Published, Result};

/// Where an operator publishes.
#[async_trait]
pub trait Publisher: Send + Sync + 'static {
    /// Publishes one event, and commits.
    async fn publish(&self, event: EventBuilder) -> Result<Published>;
}

/// Publishes through an outbox, in transactions of a pool.
pub struct Through<P> {
    /// The outbox.
    pub outbox: Outbox,
    /// Connections to its database.
    pub pool: P,
}

#[async_trait]
impl<P: Begin + Send + 'static> Publisher for Through<P> {
    async fn publish(&self, event: EventBuilder) -> Result<Published> {
        let mut tx = self.pool.begin().await?;
        let staged = self.outbox.publish(&mut tx, event).await?;
        let published = staged.published().first().cloned();
        self.outbox.commit(tx, staged).await?;
        published.ok_or_else(|| posthaste::Error::new(posthaste::ErrorKind::Unexpected, "publish"))
    }
}
