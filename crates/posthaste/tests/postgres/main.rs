//! What an application relies on, on a real PostgreSQL, through the public interface only.

#![expect(clippy::unwrap_used, reason = "a test may panic")]
#![cfg(feature = "postgres")]

#[path = "../acceptance/counters.rs"]
mod counters;

mod bulk;
mod concurrency;
mod database;
mod delivery;
mod doorbell;
mod fixture;
mod opening;
mod publishing;
