//! What goes into publishing, and what comes out of it.

use crate::{Event, EventId, Lane, Position};

/// What publishing one event answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Published {
    /// The event's id; of the first one if this was a duplicate.
    pub id: EventId,
    /// Its place in the log.
    pub position: Position,
    /// Its lane.
    pub lane: Lane,
    /// Its number in its aggregate, if it has one.
    pub version: Option<i64>,
    /// It had been published before, and was not added again.
    pub duplicate: bool,
}

/// Events that are to be published, in this order.
#[derive(Clone, Copy, Debug)]
pub struct Unpublished<'e> {
    /// The events.
    pub events: &'e [Event],
    /// Whether all their ids were made for them just now. An id of the application's own may be in the log already.
    pub fresh: bool,
}

impl<'e> From<&'e [Event]> for Unpublished<'e> {
    fn from(events: &'e [Event]) -> Self {
        Self { events, fresh: false }
    }
}

impl<'e> From<&'e Vec<Event>> for Unpublished<'e> {
    fn from(events: &'e Vec<Event>) -> Self {
        events.as_slice().into()
    }
}

impl<'e, const N: usize> From<&'e [Event; N]> for Unpublished<'e> {
    fn from(events: &'e [Event; N]) -> Self {
        events.as_slice().into()
    }
}
