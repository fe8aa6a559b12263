//! What the machine has to tell: the shell turns notes into logs and metrics.

use std::time::Duration;

use posthaste_core::{DeadReason, EventId, FaultKind, Lane, Position};

/// Something worth telling. Never carries a payload.
#[derive(Clone, Debug, PartialEq)]
pub enum Note {
    /// A delivery failed and is tried again.
    Failed {
        /// Which event.
        id: EventId,
        /// Its place.
        position: Position,
        /// How many deliveries of it have failed.
        attempts: u32,
        /// When it is tried again.
        due_in: Duration,
        /// What the sink called it.
        kind: FaultKind,
        /// The reason it would die for.
        reason: DeadReason,
        /// What the sink said.
        error: String,
    },
    /// An event became a dead letter.
    Died {
        /// Which event.
        id: EventId,
        /// Its place.
        position: Position,
        /// How many deliveries of it have failed.
        attempts: u32,
        /// Why.
        reason: DeadReason,
        /// The last failure.
        error: String,
    },
    /// The destination is down; nothing is sent until it answers a ping.
    CircuitOpened {
        /// What the sink said.
        error: String,
    },
    /// The destination answers again.
    CircuitClosed,
    /// The destination asked to wait.
    Throttled {
        /// How long.
        wait: Duration,
    },
    /// The relay holds this lane.
    Taken(Lane),
    /// The relay has given this lane back.
    GivenBack(Lane),
    /// Somebody else holds this lane: what was sent and not settled may be sent again.
    Fenced(Lane),
    /// The database refuses what became of this lane, which has to wait. The others go on.
    Refused {
        /// Which lane.
        lane: Lane,
        /// What the database said.
        error: String,
        /// Whether the lane has to wait from now on, and did not before.
        first: bool,
    },
    /// The database has taken what it had refused.
    Accepted(Lane),
    /// The database has crashed: these lanes are taken again from their last lines, and what was sent and not settled may be sent
    /// again.
    Voided {
        /// How many.
        lanes: u32,
    },
    /// The subscription has been configured anew elsewhere; this relay leaves it alone.
    Outdated {
        /// The generation this relay is configured for.
        ours: i64,
        /// The stored one.
        stored: i64,
    },
    /// Entries that the filter excludes were passed.
    Skipped(u64),
    /// Entries that had been delivered from memory were passed.
    PassedHot(u64),
}
