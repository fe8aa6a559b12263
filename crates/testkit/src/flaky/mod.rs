//! A sink that fails as a test tells it to, and remembers everything it received.

mod destination;

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use async_trait::async_trait;
use posthaste_core::{Clock, Delivery, Entry, EventId, Fault, Sink};
use tokio::sync::watch;

use self::destination::{Answer, Destination};
pub use self::destination::{Odds, Promise, Receipt};

/// A sink that fails as a test tells it to. Clones deliver to the same destination.
#[derive(Clone)]
pub struct FlakySink {
    shared: Arc<Shared>,
    relay: Arc<str>,
}

struct Shared {
    destination: Mutex<Destination>,
    clock: Arc<dyn Clock>,
    /// Whether deliveries go through or wait.
    open: watch::Sender<bool>,
    /// How many receipts there are, so that tests wait for a condition instead of a time.
    received: watch::Sender<usize>,
}

impl FlakySink {
    /// A destination that takes everything; it writes down when by this clock.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        let shared = Shared {
            destination: Mutex::default(),
            clock,
            open: watch::Sender::new(true),
            received: watch::Sender::new(0),
        };
        Self { shared: Arc::new(shared), relay: Arc::from("") }
    }

    /// The same destination as this relay uses it: its receipts bear the name.
    #[must_use]
    pub fn used_by(&self, relay: &str) -> Self {
        Self { shared: Arc::clone(&self.shared), relay: Arc::from(relay) }
    }

    /// Refuses this event with this fault, this many times.
    pub fn fail(&self, id: EventId, times: u32, fault: Fault) {
        self.destination().fail(id, times, fault);
    }

    /// Refuses this event with this fault, always.
    pub fn fail_always(&self, id: EventId, fault: Fault) {
        self.fail(id, u32::MAX, fault);
    }

    /// Receives this event, but answers with this fault, this many times: what a lost acknowledgement looks like.
    pub fn lose_answer(&self, id: EventId, times: u32, fault: Fault) {
        self.destination().lose_answer(id, times, fault);
    }

    /// Panics when it is to deliver this event, this many times.
    pub fn panic_on(&self, id: EventId, times: u32) {
        self.destination().panic_on(id, times);
    }

    /// Lets events without instructions of their own fail by chance. The same seed gives the same faults in the same
    /// order of deliveries.
    pub fn fail_by_chance(&self, seed: u64, odds: Odds) {
        self.destination().fail_by_chance(seed, odds);
    }

    /// Is down from now on: nothing is received, and pings fail.
    pub fn go_down(&self) {
        self.destination().outage = Some(Fault::unavailable("the destination is down"));
    }

    /// Asks to wait this long from now on; pings answer well.
    pub fn throttle(&self, retry_after: Duration) {
        self.destination().outage = Some(Fault::throttled(retry_after, "the destination asks to wait"));
    }

    /// Is neither down nor throttled any more.
    pub fn come_up(&self) {
        self.destination().outage = None;
    }

    /// Lets deliveries wait from now on, as a destination that hangs does.
    pub fn block(&self) {
        self.shared.open.send_replace(false);
    }

    /// Lets the deliveries go that wait.
    pub fn release(&self) {
        self.shared.open.send_replace(true);
    }

    /// What the sink makes of its promise about the entries of one key.
    pub fn promise(&self, promise: Promise) {
        self.destination().promise = promise;
    }

    /// Everything that was received, in order, repeats included.
    #[must_use]
    pub fn received(&self) -> Vec<Receipt> {
        self.destination().received.clone()
    }

    /// How often this event was received.
    #[must_use]
    pub fn count_of(&self, id: EventId) -> usize {
        self.destination().received.iter().filter(|receipt| receipt.id == id).count()
    }

    /// How often this event failed by its own fault, and not because the destination was down or asked to wait.
    #[must_use]
    pub fn own_failures(&self, id: EventId) -> u32 {
        self.destination().own_failures.get(&id).copied().unwrap_or(0)
    }

    /// How many pings came.
    #[must_use]
    pub fn pings(&self) -> u64 {
        self.destination().pings
    }

    /// Waits until this many deliveries were received, repeats included. Give it a deadline.
    pub async fn wait_for(&self, count: usize) {
        let mut received = self.shared.received.subscribe();
        // The sender lives as long as this sink.
        _ = received.wait_for(|received| *received >= count).await;
    }

    fn destination(&self) -> MutexGuard<'_, Destination> {
        // It panics on purpose, and its state is whole whenever it does.
        self.shared.destination.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, batch: &[Entry]) -> Answer {
        let now = self.shared.clock.now();
        let mut destination = self.destination();
        let answer = destination.deliver(batch, &self.relay, now);
        self.shared.received.send_replace(destination.received.len());
        answer
    }
}

#[async_trait]
impl Sink for FlakySink {
    async fn deliver(&self, batch: &[Entry], until: Instant) -> Vec<Delivery> {
        let mut open = self.shared.open.subscribe();
        _ = open.wait_for(|open| *open).await;
        // Nothing goes on the wire when the time is over, however long it hung.
        if Instant::now() >= until {
            return vec![Delivery::NotSent; batch.len()];
        }
        match self.take(batch) {
            Answer::Deliveries(deliveries) => deliveries,
            Answer::Panic => panic!("the sink panics on purpose"),
        }
    }

    async fn ping(&self) -> Result<(), Fault> {
        self.destination().ping()
    }

    fn keeps_key_order(&self) -> bool {
        self.destination().promise != Promise::NotMade
    }
}
