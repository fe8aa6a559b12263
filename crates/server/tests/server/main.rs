//! A real server over a real log, asked by real HTTP.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod acting;
mod agreeing;
mod alerts;
mod bad_input;
mod caller;
mod closed;
mod document;
mod events;
mod fixture;
mod fuzz;
mod pages;
mod postgres;
mod reference;
mod sinks;
mod starting;
mod tuning;
mod watching;
