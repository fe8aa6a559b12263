//! The real program, run as people and scripts run it: what it prints, what it leaves, and its exit codes.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod bad_input;
mod crash;
mod demo;
mod fixture;
mod migrate;
mod relay;
mod status;
mod usage;
