//! What a listener is called with.

use std::{ops::Deref, sync::Arc};

use posthaste_core::{Entry, Event, Position};

/// An event as a listener receives it: cheap to clone, and read like the [`Event`] itself.
///
/// It is owned, because a listener's future outlives the borrowed batch as far as the compiler can tell. The copy is
/// made once for all listeners of an event, and only if there is one.
#[derive(Clone, Debug)]
pub struct Received {
    event: Arc<Event>,
    position: Position,
    attempt: u32,
}

impl Received {
    pub(crate) fn new(entry: &Entry) -> Self {
        Self {
            event: Arc::new(entry.event.clone()),
            position: entry.position,
            attempt: entry.attempts.saturating_add(1),
        }
    }

    /// Its place in the log.
    #[must_use]
    pub fn position(&self) -> Position {
        self.position
    }

    /// Which attempt this is; 1 is the first. Attempts that did not count, because something was down or a relay
    /// crashed, are not in it: only the event's id tells repeats.
    #[must_use]
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// The event, to be kept without a copy.
    #[must_use]
    pub fn event(&self) -> Arc<Event> {
        Arc::clone(&self.event)
    }
}

impl Deref for Received {
    type Target = Event;

    fn deref(&self) -> &Event {
        &self.event
    }
}
