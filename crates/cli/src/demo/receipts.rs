//! What one subscriber received and refused, in order. Everything the summary says is computed from these.

use std::{
    collections::{BTreeMap, HashSet},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use posthaste::{Clock, EventId, Received, SystemClock, Timestamp};

/// What one subscriber has seen.
#[derive(Debug, Default)]
pub(crate) struct Receipts {
    seen: Mutex<Seen>,
}

/// What one subscriber has seen, at the end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) receipts: Vec<Receipt>,
    /// How often each event failed by its own fault.
    pub(crate) failures: BTreeMap<EventId, u32>,
    /// The events that came while the destination was down.
    pub(crate) refused: BTreeMap<EventId, u32>,
    ids: HashSet<EventId>,
}

/// One delivery.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Receipt {
    pub(crate) id: EventId,
    pub(crate) at: Timestamp,
    pub(crate) instant: Instant,
    /// Which attempt it was, as the relay counts; 1 is the first.
    pub(crate) attempt: u32,
}

impl Receipts {
    pub(super) fn receive(&self, event: &Received) {
        let (at, instant) = (SystemClock.now(), Instant::now());
        self.lock().add(Receipt { id: event.id, at, instant, attempt: event.attempt() });
    }

    pub(super) fn fail(&self, event: &Received) {
        *self.lock().failures.entry(event.id).or_default() += 1;
    }

    pub(super) fn refuse(&self, id: EventId) {
        *self.lock().refused.entry(id).or_default() += 1;
    }

    /// How many different events have arrived.
    pub(super) fn arrived(&self) -> usize {
        self.lock().ids.len()
    }

    /// How many deliveries have failed.
    pub(super) fn failures(&self) -> u64 {
        self.lock().failures.values().map(|count| u64::from(*count)).sum()
    }

    pub(super) fn snapshot(&self) -> Seen {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seen {
    pub(crate) fn add(&mut self, receipt: Receipt) {
        self.ids.insert(receipt.id);
        self.receipts.push(receipt);
    }
}
