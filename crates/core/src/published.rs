//! What goes into publishing, and what comes out of it.

use crate::{Event, EventId, Lane, Position};

/// What publishing one event answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Published {
    /// The event's id; of the first one if this was a duplicate.
    pub id: EventId,
    /// Where in the log it is. None if nobody needed to know, and the database was not asked.
    pub spot: Option<Spot>,
    /// Its number in its aggregate, if it has one.
    pub version: Option<i64>,
    /// It had been published before, and was not added again.
    pub duplicate: bool,
}

/// Where in the log an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spot {
    /// Its position.
    pub position: Position,
    /// Its lane.
    pub lane: Lane,
}

/// Events that are to be published, in this order.
#[derive(Clone, Copy, Debug)]
pub struct Unpublished<'e> {
    /// The events.
    pub events: &'e [Event],
    /// Whether all their ids were made for them just now. An id of the application's own may be in the log already.
    pub fresh: bool,
    /// Whether the answers have to say where in the log the events are. A database may tell it unasked; to ask costs some work.
    pub spots: bool,
}

impl<'e> From<&'e [Event]> for Unpublished<'e> {
    fn from(events: &'e [Event]) -> Self {
        Self { events, fresh: false, spots: true }
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
