//! The acceptance tests of the specification, 18.1 to 18.6 by name, and what else an application relies on: on a
//! real SQLite file, through the public interface only.

#![expect(clippy::unwrap_used, reason = "a test may panic")]
#![cfg(feature = "sqlite")]

mod acceptance;
mod counters;
mod fixture;
mod pitfalls;
mod publishing;
mod transactions;
