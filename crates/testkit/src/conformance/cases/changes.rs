//! The changes of settlements, as the cases write them.

use std::time::Duration;

use posthaste_core::{Buried, Change, DeadReason, Due, Entry, Parked, Timestamp};

use super::bench::Sent;

/// It failed for the `attempts`th time, and is tried again after this long.
pub(super) fn failed(sent: &Sent, attempts: u32, due_in: Duration) -> Change {
    failed_with(sent, attempts, due_in, "connection reset")
}

pub(super) fn failed_with(sent: &Sent, attempts: u32, due_in: Duration, error: &str) -> Change {
    park(sent, attempts, Due::In(due_in), Some(error))
}

/// It waits behind an event of its key.
pub(super) fn follower(sent: &Sent) -> Change {
    park(sent, 0, Due::In(Duration::ZERO), None)
}

/// It waits for its time.
pub(super) fn delayed(sent: &Sent, until: Timestamp) -> Change {
    park(sent, 0, Due::Delayed(until), None)
}

/// It was parked, and is delivered.
pub(super) fn delivered(sent: &Sent) -> Change {
    Change::Unpark(sent.position)
}

/// It is dead, and its key goes on.
pub(super) fn dead(sent: &Sent) -> Change {
    bury(sent, false)
}

/// It is dead, and its key waits for a person.
pub(super) fn held_dead(sent: &Sent) -> Change {
    bury(sent, true)
}

/// It cannot be delivered as it was read.
pub(super) fn poison(entry: &Entry) -> Change {
    Change::Bury(Box::new(Buried {
        position: entry.position,
        event: entry.event.clone(),
        attempts: 1,
        reason: DeadReason::PoisonMessage,
        error: entry.defect.clone().unwrap_or_default(),
        holds: false,
        took: Duration::ZERO,
    }))
}

fn park(sent: &Sent, attempts: u32, due: Due, error: Option<&str>) -> Change {
    Change::Park(Box::new(Parked {
        position: sent.position,
        event: sent.event.clone(),
        attempts,
        due,
        error: error.map(str::to_owned),
        took: Duration::from_millis(3),
    }))
}

fn bury(sent: &Sent, holds: bool) -> Change {
    Change::Bury(Box::new(Buried {
        position: sent.position,
        event: sent.event.clone(),
        attempts: 10,
        reason: DeadReason::MaxRetriesExceeded,
        error: "connection reset".to_owned(),
        holds,
        took: Duration::from_millis(3),
    }))
}
