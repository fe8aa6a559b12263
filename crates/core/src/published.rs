//! What publishing answers.

use crate::{EventId, Lane, Position};

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
