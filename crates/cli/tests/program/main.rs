//! The real program, run as people and scripts run it: what it prints, what it leaves, and its exit codes.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod bad_input;
mod config;
mod configured;
mod crash;
mod demo;
#[cfg(unix)]
mod encryption;
mod fixture;
mod kafka;
mod migrate;
mod operated;
mod postgres;
mod proxy;
mod relay;
mod server;
mod sharing;
mod status;
mod tuned;
mod usage;
