//! The sink against a real broker, against brokers that are killed and paused, and against a made-up cluster that fails
//! on command.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod access;
mod fixture;
mod mock;
mod options;
mod order;
mod outage;
mod pitfalls;
mod records;
mod refusals;
