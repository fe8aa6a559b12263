//! Sinks that count what they get.

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use async_trait::async_trait;
use posthaste::{Delivery, Entry, Fault, Sink};
use tokio::sync::Notify;

/// Takes everything and does nothing.
pub(crate) struct Null;

#[async_trait]
impl Sink for Null {
    async fn deliver(&self, batch: &[Entry], _: Instant) -> Vec<Delivery> {
        vec![Delivery::Delivered; batch.len()]
    }

    async fn ping(&self) -> Result<(), Fault> {
        Ok(())
    }
}

/// Counts what the sink behind it delivers, and tells when that is all.
#[derive(Clone)]
pub(crate) struct Counted(Arc<Counting>);

struct Counting {
    inner: Arc<dyn Sink>,
    count: AtomicU64,
    wanted: u64,
    done: Notify,
    half: OnceLock<Instant>,
}

impl Counted {
    pub(crate) fn null(wanted: u64) -> Self {
        Self::around(Arc::new(Null), wanted)
    }

    pub(crate) fn around(inner: Arc<dyn Sink>, wanted: u64) -> Self {
        let (count, done, half) = (AtomicU64::new(0), Notify::new(), OnceLock::new());
        Self(Arc::new(Counting { inner, count, wanted, done, half }))
    }

    /// Waits until all were delivered.
    pub(crate) async fn wait(&self) {
        while self.0.count.load(Ordering::Acquire) < self.0.wanted {
            self.0.done.notified().await;
        }
    }

    /// When half of them were.
    pub(crate) fn half(&self) -> Option<Instant> {
        self.0.half.get().copied()
    }
}

#[async_trait]
impl Sink for Counted {
    async fn deliver(&self, batch: &[Entry], until: Instant) -> Vec<Delivery> {
        let deliveries = self.0.inner.deliver(batch, until).await;
        let delivered = deliveries.iter().filter(|delivery| **delivery == Delivery::Delivered).count() as u64;
        let count = self.0.count.fetch_add(delivered, Ordering::AcqRel) + delivered;
        if count >= self.0.wanted / 2 {
            self.0.half.get_or_init(Instant::now);
        }
        if count >= self.0.wanted {
            self.0.done.notify_one();
        }
        deliveries
    }

    async fn ping(&self) -> Result<(), Fault> {
        self.0.inner.ping().await
    }
}
