//! The real program, run as people and scripts run it: what it prints, what it leaves, and its exit codes.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[cfg(unix)]
mod asking;
mod bad_input;
mod config;
mod configured;
mod crash;
mod demo;
mod dlq;
mod doctor;
#[cfg(unix)]
mod encryption;
mod events;
mod fixture;
mod jobs;
mod kafka;
mod migrate;
mod operated;
mod operators;
mod postgres;
mod proxy;
mod publish;
mod relay;
mod server;
mod sharing;
mod status;
mod subscriptions;
mod tail;
#[cfg(unix)]
mod terminal;
mod tools;
mod traces;
mod tuned;
mod usage;
