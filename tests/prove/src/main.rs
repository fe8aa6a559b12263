//! The proof: real publishers, relays, PostgreSQL and Kafka, of which everything is killed, stopped and started again for a while; then
//! the history checker says whether anything was lost, made up or turned round.
//!
//! `cargo xtask prove` runs it. It plays two parts: the director, and each of the publishers, which are processes of their own.

#![expect(clippy::print_stdout, reason = "a program for people")]

mod chaos;
mod consumer;
mod director;
mod publisher;
mod record;
mod relay;
mod stage;
mod verdict;

use std::process::ExitCode;

use clap::Parser;

/// What to be.
#[derive(Parser)]
#[command(name = "prove", about = "Proves on real servers that nothing is lost, made up or turned round")]
enum Part {
    /// Set everything up, disturb it for a while, and judge what was received
    Direct(director::Options),
    /// Publish until told to stop
    #[command(hide = true)]
    Publish(publisher::Options),
}

#[tokio::main]
async fn main() -> ExitCode {
    let done = match Part::parse() {
        Part::Direct(options) => director::run(&options).await,
        Part::Publish(options) => publisher::run(&options).await.map(|()| true),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
