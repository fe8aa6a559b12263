//! How a relay is doing, for whoever watches it.

use std::time::Duration;

use posthaste_core::RelayId;
use tokio::sync::watch;

use super::{holder::Held, timer::Timer};

/// How a relay is doing. It outlives the relay, and then says that it is gone.
#[derive(Clone)]
pub struct Pulse {
    pub(super) held: watch::Receiver<Option<Held>>,
    pub(super) timer: Timer,
}

impl Pulse {
    /// Whether the relay runs.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.held.has_changed().is_ok()
    }

    /// The id under which it holds lanes at present.
    #[must_use]
    pub fn id(&self) -> Option<RelayId> {
        self.held.borrow().as_ref().map(|held| held.me.clone())
    }

    /// Whether it knows of no other relay: it has its lease, and when that was last renewed no other one had a row.
    #[must_use]
    pub fn is_alone(&self) -> bool {
        let alone = self.held.borrow().as_ref().is_some_and(|held| held.census.alone);
        alone && self.lease_left().is_some()
    }

    /// For how much longer it may send before its lease has to be renewed; none if it has no lease, or one that may be over.
    #[must_use]
    pub fn lease_left(&self) -> Option<Duration> {
        let deadline = self.held.borrow().as_ref()?.deadline;
        let left = deadline.since(self.timer.now());
        (self.is_running() && !left.is_zero()).then_some(left)
    }
}
