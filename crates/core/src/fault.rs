//! What a sink says of each entry, and why something became a dead letter.

use std::{fmt, str::FromStr, time::Duration};

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// Error texts are cut at this many characters before they are stored.
pub const MAX_ERROR_CHARS: usize = 4_000;

/// Cuts an error text for storage.
#[must_use]
pub fn cut_error(text: &str) -> &str {
    match text.char_indices().nth(MAX_ERROR_CHARS) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

/// What became of one entry that a sink was asked to deliver.
#[derive(Clone, Debug, PartialEq)]
pub enum Delivery {
    /// The destination has it for good.
    Delivered,
    /// The destination does not have it, or not surely.
    Failed(Fault),
    /// It was not tried, or nothing is known of it and that is not its fault: an earlier entry of its key failed, the destination is
    /// down, or the time was over.
    NotSent,
}

/// Why a delivery failed, as the sink names it.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// What kind of failure it is, which decides what happens next.
    pub kind: FaultKind,
    /// The reason to record if this ends as a dead letter.
    pub reason: DeadReason,
    /// What the destination said.
    pub message: String,
}

/// The kinds of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The destination is down. Nobody's attempts count.
    Unavailable,
    /// The destination asks to wait. No attempt counts.
    Throttled {
        /// How long to wait.
        retry_after: Duration,
    },
    /// This event failed this time.
    Transient,
    /// This event will never be accepted.
    Permanent,
}

impl Fault {
    /// The destination is down: connection refused, no leader, 503.
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::new(FaultKind::Unavailable, DeadReason::MaxRetriesExceeded, message)
    }

    /// The destination asks to wait this long.
    pub fn throttled(retry_after: Duration, message: impl Into<String>) -> Self {
        Self::new(FaultKind::Throttled { retry_after }, DeadReason::MaxRetriesExceeded, message)
    }

    /// This event failed this time; it is tried again.
    pub fn transient(message: impl Into<String>) -> Self {
        Self::new(FaultKind::Transient, DeadReason::MaxRetriesExceeded, message)
    }

    /// This event took too long; it is tried again, and at last is a dead letter for that reason.
    pub fn timeout(message: impl Into<String>) -> Self {
        Self::new(FaultKind::Transient, DeadReason::ProcessingTimeout, message)
    }

    /// The destination refuses this event for good.
    pub fn permanent(message: impl Into<String>) -> Self {
        Self::new(FaultKind::Permanent, DeadReason::PermanentFailure, message)
    }

    /// The event breaks whoever handles it: a panic, a row that cannot be understood.
    pub fn poison(message: impl Into<String>) -> Self {
        Self::new(FaultKind::Permanent, DeadReason::PoisonMessage, message)
    }

    /// The payload does not fit its schema.
    pub fn schema(message: impl Into<String>) -> Self {
        Self::new(FaultKind::Permanent, DeadReason::SchemaValidationFailed, message)
    }

    fn new(kind: FaultKind, reason: DeadReason, message: impl Into<String>) -> Self {
        Self { kind, reason, message: message.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Fault {}

/// Why an event became a dead letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeadReason {
    /// Every attempt failed.
    MaxRetriesExceeded,
    /// It broke its handler, or its row could not be understood.
    PoisonMessage,
    /// Its payload does not fit its schema.
    SchemaValidationFailed,
    /// It took too long, every time.
    ProcessingTimeout,
    /// The destination refused it for good.
    PermanentFailure,
}

impl DeadReason {
    /// All reasons.
    pub const ALL: [DeadReason; 5] = [
        DeadReason::MaxRetriesExceeded,
        DeadReason::PoisonMessage,
        DeadReason::SchemaValidationFailed,
        DeadReason::ProcessingTimeout,
        DeadReason::PermanentFailure,
    ];

    /// The reason as it is stored and shown.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            DeadReason::MaxRetriesExceeded => "max_retries_exceeded",
            DeadReason::PoisonMessage => "poison_message",
            DeadReason::SchemaValidationFailed => "schema_validation_failed",
            DeadReason::ProcessingTimeout => "processing_timeout",
            DeadReason::PermanentFailure => "permanent_failure",
        }
    }
}

impl fmt::Display for DeadReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for DeadReason {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|reason| reason.as_str() == text).ok_or_else(|| {
            let allowed = Self::ALL.map(Self::as_str).join(", ");
            Error::invalid(format!("{text:?} is no reason of a dead letter; allowed are {allowed}"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_long_error_texts_at_a_character() {
        let long = "é".repeat(MAX_ERROR_CHARS + 5);

        assert_eq!(cut_error(&long).chars().count(), MAX_ERROR_CHARS);
        assert_eq!(cut_error("short"), "short");
    }
}
