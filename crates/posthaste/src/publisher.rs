//! Publishing by somebody who has no transaction of his own: an operator, or a tool. An event then stands alone in one.

use async_trait::async_trait;
use posthaste_core::{Error, ErrorKind, EventBuilder, Published, Result};

use crate::{Begin, Outbox};

/// Where somebody without a transaction publishes.
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
        // An operator is told where it is.
        let staged = self.outbox.publish_many(&mut tx, [event]).await?;
        let published = staged.published().first().cloned();
        self.outbox.commit(tx, staged).await?;
        published.ok_or_else(|| Error::new(ErrorKind::Unexpected, "publish"))
    }
}
