//! The log in SQLite, on real files: what every log has to do, and what is SQLite's own.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod conformance;
mod fixture;
mod jobs;
mod opening;
mod plain_sql;
mod publishing;
mod refusing;
mod sharing;
