//! A sink that only counts.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use async_trait::async_trait;
use posthaste::{Delivery, Entry, Fault, Sink};
use tokio::sync::Notify;

/// Counts what it gets, and tells when it has got so much.
#[derive(Clone)]
pub(crate) struct NullSink {
    shared: Arc<Shared>,
}

struct Shared {
    count: AtomicU64,
    wanted: u64,
    done: Notify,
}

impl NullSink {
    pub(crate) fn new(wanted: u64) -> Self {
        Self { shared: Arc::new(Shared { count: AtomicU64::new(0), wanted, done: Notify::new() }) }
    }

    /// Waits until it has got all.
    pub(crate) async fn wait(&self) {
        while self.shared.count.load(Ordering::Acquire) < self.shared.wanted {
            self.shared.done.notified().await;
        }
    }
}

#[async_trait]
impl Sink for NullSink {
    async fn deliver(&self, batch: &[Entry], _: Instant) -> Vec<Delivery> {
        let count = self.shared.count.fetch_add(batch.len() as u64, Ordering::AcqRel) + batch.len() as u64;
        if count >= self.shared.wanted {
            self.shared.done.notify_one();
        }
        vec![Delivery::Delivered; batch.len()]
    }

    async fn ping(&self) -> Result<(), Fault> {
        Ok(())
    }
}
