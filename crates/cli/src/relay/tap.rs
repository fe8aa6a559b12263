//! A sink seen through: counts what is delivered, and notices when nobody reads standard output any more.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use async_trait::async_trait;
use posthaste::{Delivery, Entry, Fault, FileSink, Sink};
use tokio::sync::Notify;

use super::destination::Destination;

/// What was seen.
#[derive(Default)]
pub(super) struct Tapped {
    delivered: AtomicU64,
    abandoned: Notify,
}

impl Tapped {
    pub(super) fn delivered(&self) -> u64 {
        self.delivered.load(Ordering::Relaxed)
    }

    /// Waits until nobody reads what is written. A closed pipe never opens again: waiting for it, as for any
    /// other destination that is down, would be for ever.
    pub(super) async fn abandoned(&self) {
        self.abandoned.notified().await;
    }
}

pub(super) struct Tap {
    sink: FileSink,
    tapped: Arc<Tapped>,
    /// How the end of the reader shows in a fault; none where somebody else may come to read.
    ending: Option<String>,
}

impl Tap {
    pub(super) fn new(sink: FileSink, destination: &Destination, tapped: Arc<Tapped>) -> Self {
        const EPIPE: i32 = 32;
        let broken_pipe = || io::Error::from_raw_os_error(EPIPE).to_string();
        let ending = (*destination == Destination::Stdout).then(broken_pipe);
        Self { sink, tapped, ending }
    }

    fn look_at(&self, fault: &Fault) {
        if self.ending.as_ref().is_some_and(|ending| fault.message.contains(ending)) {
            self.tapped.abandoned.notify_one();
        }
    }
}

#[async_trait]
impl Sink for Tap {
    async fn deliver(&self, batch: &[Entry], until: Instant) -> Vec<Delivery> {
        let answers = self.sink.deliver(batch, until).await;
        let mut delivered = 0;
        for answer in &answers {
            match answer {
                Delivery::Delivered => delivered += 1,
                Delivery::Failed(fault) => self.look_at(fault),
                Delivery::NotSent => {}
            }
        }
        self.tapped.delivered.fetch_add(delivered, Ordering::Relaxed);
        answers
    }

    async fn ping(&self) -> Result<(), Fault> {
        self.sink.ping().await
    }
}
