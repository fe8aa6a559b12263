//! Whole files, good and bad: what is read, what is said about what cannot be, and what the documentation says about it.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod bad;
mod changes;
mod documentation;
mod fixture;
mod former;
mod fuzz;
mod good;
mod overrides;
mod schema;
mod secrets;
mod server;
mod traces;
mod validation;
