//! A whole relay in a runtime whose time is the test's: real loops and tasks, a log in memory, sinks that misbehave.
//!
//! Time stands still while somebody works and jumps when everybody waits, so that an hour takes no time and nothing
//! depends on how fast the machine is. The ids beside tests name the known faults that the test guards against.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod delivering;
mod ears;
mod faulty_log;
mod faulty_sink;
mod gauges;
mod hot;
mod jobs;
mod operating;
mod sharing;
mod stage;
mod stopping;
mod traps;
