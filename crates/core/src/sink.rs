//! The destination's side.

use std::time::Instant;

use async_trait::async_trait;

use crate::{Delivery, Entry, Fault};

/// A destination: says of each entry what became of it. It never retries, sleeps or counts.
#[async_trait]
pub trait Sink: Send + Sync + 'static {
    /// Delivers a batch, in order, and answers with one [`Delivery`] an entry.
    ///
    /// For each key the answers are `Delivered…`, then at most one `Failed`, then `NotSent…`: nothing of a key is
    /// delivered after its fault. Nothing goes on the wire after `until`, the client library's own queue included.
    /// `Delivered` is said only of what the destination has for good. What found no time before `until` was `NotSent`: that is no
    /// outage, and nobody's fault.
    async fn deliver(&self, batch: &[Entry], until: Instant) -> Vec<Delivery>;

    /// Asks the destination whether it can take entries again. Called while it is down.
    async fn ping(&self) -> Result<(), Fault>;

    /// Whether [`deliver`](Self::deliver) keeps its promise about the entries of one key. If not, the engine gives
    /// it one entry of a key at a time.
    fn keeps_key_order(&self) -> bool {
        true
    }
}
