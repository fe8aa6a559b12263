//! The log in PostgreSQL, on a real server: what every log has to do, and what is PostgreSQL's own.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[cfg(unix)]
mod cluster;
mod conformance;
#[cfg(unix)]
mod crash;
mod fixture;
mod jobs;
mod opening;
mod order;
mod pitfalls;
mod plain_sql;
mod pooler;
mod pruning;
mod publishing;
#[cfg(unix)]
mod restore;
mod roles;
mod schema;
mod sharing;
mod stress;
mod walk;
mod windows;
