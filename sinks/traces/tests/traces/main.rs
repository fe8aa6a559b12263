//! Spans as a collector gets them, and events as a consumer does.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod collector;
mod delivering;
mod destination;
mod outage;
