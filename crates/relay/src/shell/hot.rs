//! The way from a commit in this process to the relay: rings the doorbell, or hands the event itself over.

use std::sync::{Arc, RwLock};

use posthaste_core::{Entry, Event, Order, Subscription};
use tokio::sync::{Notify, mpsc};

use super::{complaint::Seldom, pulse::Pulse};
use crate::metric::Metrics;

/// The hot path into a relay. Cheap to clone; does nothing when the relay is gone.
#[derive(Clone)]
pub struct Hot {
    doors: Arc<RwLock<Vec<Door>>>,
    pulse: Pulse,
}

/// The way to one pump.
struct Door {
    order: Order,
    queue: mpsc::Sender<Box<Entry>>,
    bell: Arc<Notify>,
    metrics: Metrics,
    /// The queue was full: under load that happens for each event.
    full: Seldom,
}

impl Hot {
    pub(super) fn new(pulse: Pulse) -> Self {
        Self { doors: Arc::default(), pulse }
    }

    /// Something may have been committed: the log is read now instead of at the next poll. Harmless if it was not.
    pub fn ring(&self) {
        for door in self.doors().iter() {
            door.bell.notify_one();
        }
    }

    /// These were committed, as Posthaste itself saw. Those without order are delivered from memory where that is
    /// possible; all others are read from the log, now.
    pub fn dispatch(&self, entries: &[Entry]) {
        for door in self.doors().iter() {
            door.dispatch(entries);
        }
    }

    /// Whether this would be delivered from memory by some subscription, if all goes well.
    #[must_use]
    pub fn takes(&self, event: &Event) -> bool {
        self.doors().iter().any(|door| door.takes(event))
    }

    /// Whether this relay knows of no other, so that nobody else needs to be told of a commit. One that has just come is noticed with
    /// the next renewal of the lease, and finds by polling what is committed until then.
    #[must_use]
    pub fn is_alone(&self) -> bool {
        self.pulse.is_alone()
    }

    /// Whether the relay is gone.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.doors().iter().all(|door| door.queue.is_closed())
    }

    pub(super) fn add(
        &self,
        subscription: &Subscription,
        queue: mpsc::Sender<Box<Entry>>,
        bell: Arc<Notify>,
        metrics: Metrics,
    ) {
        let door = Door { order: subscription.order, queue, bell, metrics, full: Seldom::default() };
        self.doors.write().unwrap_or_else(std::sync::PoisonError::into_inner).push(door);
    }

    fn doors(&self) -> std::sync::RwLockReadGuard<'_, Vec<Door>> {
        self.doors.read().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Door {
    fn takes(&self, event: &Event) -> bool {
        let ordered = self.order == Order::Key && event.key.is_some();
        // Only the database's clock knows whether the time of a delayed one has come; the log says so soon enough.
        !ordered && event.deliver_after.is_none() && !self.queue.is_closed()
    }

    fn dispatch(&self, entries: &[Entry]) {
        let mut ring = false;
        for entry in entries {
            if !self.takes(&entry.event) {
                ring = true;
                continue;
            }
            match self.queue.try_send(Box::new(entry.clone())) {
                Ok(()) => self.metrics.hot_enqueued.increment(1),
                Err(mpsc::error::TrySendError::Full(_)) => {
                    self.metrics.hot_dropped.increment(1);
                    ring = true;
                    if self.full.is_time() {
                        tracing::warn!(id = %entry.event.id, "the hot queue is full; events are delivered from the log");
                    }
                }
                Err(mpsc::error::TrySendError::Closed(_)) => {}
            }
        }
        if ring {
            self.bell.notify_one();
        }
    }
}
