//! What one relay does for one subscription, step by step: the machine against a log in memory.
//!
//! Each test arranges a moment, lets one thing happen, and looks at what the machine wants next. The ids beside tests
//! name the known faults of other outboxes that the test guards against.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod bench;
mod bounds;
mod hot;
mod lanes;
mod lease;
mod liveness;
mod order;
mod outage;
mod pace;
mod reading;
mod refused;
mod stopping;
mod tuning;
mod unordered;
