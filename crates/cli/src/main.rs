//! The program `posthaste`: a relay that stands beside a database, and what operators need around it.
//!
//! Parses the command line, sets up logs and the runtime, and turns what a command answers into an exit code.
//! Each command is a module of its own, with its options and its help beside it.

mod audit;
mod bench;
mod completions;
mod config;
mod database;
mod demo;
mod desk;
mod dlq;
mod doctor;
mod events;
mod exit;
mod features;
mod jobs;
mod lanes;
mod logging;
mod migrate;
mod paging;
mod publish;
#[cfg(test)]
mod reference;
mod relay;
mod screen;
mod signals;
mod status;
mod subscriptions;
mod tail;
mod token;

use std::{io::Write, num::NonZero, process::ExitCode, thread::available_parallelism};

use anyhow::Context;
use clap::{Parser, Subcommand};

const EXAMPLES: &str = "\
Examples:
  posthaste demo
  posthaste migrate --database sqlite://shop.db
  posthaste publish --database sqlite://shop.db --type user.created --payload '{}'
  posthaste relay --database sqlite://shop.db --sink stdout
  posthaste status --database sqlite://shop.db
  posthaste config init > relay.yaml
  posthaste relay --config relay.yaml
  posthaste doctor --config relay.yaml

Exit codes:
  0  it was done
  1  it failed, nothing is there under that name or number, a job failed, the
     doctor found something failing, or the demo a broken promise
  2  the command line, a configuration or the input was not understood
  3  refused: it is not possible as things are; relay --config: the database or
     a file refuses, and waiting does not help";

/// A transactional outbox: events are written in your own database transaction, and delivered at least once and
/// in order.
#[derive(Parser)]
#[command(name = "posthaste", version, after_help = EXAMPLES, arg_required_else_help = true)]
struct Program {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    logging: logging::Options,
}

/// The commands. A new one is a variant here and a line in [`run`].
#[derive(Subcommand)]
enum Command {
    /// Show what Posthaste promises: a small shop with failures, checked at the end
    Demo(demo::Options),
    /// Create the tables of an outbox, or bring them up to date
    Migrate(migrate::Options),
    /// Deliver events to a destination
    Relay(relay::Options),
    /// Publish events, from flags or from JSON lines
    Publish(publish::Options),
    /// Tell how a log and its subscriptions stand
    Status(status::Options),
    /// List events, or show one with all that happened to it
    Events(events::Options),
    /// Follow what is published and what becomes of it
    Tail(tail::Options),
    /// List dead letters, send them again, edit or discard them
    Dlq(dlq::Options),
    /// Look after jobs: what relays do to many dead letters
    Jobs(jobs::Options),
    /// List, pause, resume, reset or drop subscriptions
    Subscriptions(subscriptions::Options),
    /// Tell who holds which lane, and how far it is
    Lanes(lanes::Options),
    /// List what operators did
    Audit(audit::Options),
    /// Check database, tables, destinations and file, and say what to do
    Doctor(doctor::Options),
    /// Check the file of a relay, show what it comes to, or print one to begin with
    Config(config::Options),
    /// Make a token for the API and the dashboard
    Token(token::Options),
    /// Measure throughput, latency and memory on this machine
    Bench(bench::Options),
    /// Print what a shell needs to complete command lines
    Completions(completions::Options),
}

/// How a command ended that did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// Everything is as it should be.
    Fine,
    /// It was carried out, and the answer is a bad one.
    Bad,
}

fn main() -> ExitCode {
    let program = Program::parse();
    match &program.command {
        Command::Relay(_) => logging::start(&program.logging, "info"),
        // What goes wrong while it measures explains its figures.
        Command::Bench(options) if options.is_on_a_server() => logging::start(&program.logging, "warn"),
        // It listens itself, to count statements.
        Command::Bench(_) => {}
        // What the others have to say, they print.
        _ => logging::start(&program.logging, "off"),
    }
    match run_to_the_end(program.command) {
        Ok(End::Fine) => ExitCode::SUCCESS,
        Ok(End::Bad) => exit::FAILED.into(),
        Err(error) if screen::nobody_reads(&error) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&error);
            exit::code_of(&error).into()
        }
    }
}

fn run_to_the_end(command: Command) -> anyhow::Result<End> {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    // Who says how many has it his way.
    if std::env::var_os("TOKIO_WORKER_THREADS").is_none() {
        runtime.worker_threads(workers(available_parallelism().map_or(1, NonZero::get)));
    }
    let runtime = runtime.enable_all().build().context("cannot start the runtime")?;
    let end = runtime.block_on(run(command));
    // A write to a pipe that nobody reads never ends; what it still delivers counts as not delivered anyway.
    runtime.shutdown_background();
    end
}

/// How many threads work on that many processors. Clients of Kafka and SQLite have threads of their own, and each worker more is woken for events that one
/// would have had time for: with two instead of one a relay at 1,000 events a second takes a fifth more of the processor.
fn workers(processors: usize) -> usize {
    (processors / 2).max(1)
}

async fn run(command: Command) -> anyhow::Result<End> {
    match command {
        Command::Demo(options) => demo::run(options).await,
        Command::Migrate(options) => migrate::run(options).await,
        Command::Relay(options) => relay::run(options).await,
        Command::Publish(options) => publish::run(options).await,
        Command::Status(options) => status::run(options).await,
        Command::Events(options) => events::run(options).await,
        Command::Tail(options) => tail::run(options).await,
        Command::Dlq(options) => dlq::run(options).await,
        Command::Jobs(options) => jobs::run(options).await,
        Command::Subscriptions(options) => subscriptions::run(options).await,
        Command::Lanes(options) => lanes::run(options).await,
        Command::Audit(options) => audit::run(options).await,
        Command::Doctor(options) => doctor::run(options).await,
        Command::Config(options) => config::run(options),
        Command::Token(options) => token::run(options),
        Command::Bench(options) => bench::run(options).await,
        Command::Completions(options) => completions::run(&options),
    }
}

/// Says what went wrong and by which cause, a line each.
fn complain(error: &anyhow::Error) {
    let mut said = error.to_string();
    let mut text = format!("error: {said}\n");
    for cause in error.chain().skip(1).map(ToString::to_string) {
        // Many errors paste their cause into their own text.
        if !said.contains(&cause) {
            text.push_str(&format!("  because: {cause}\n"));
        }
        said = cause;
    }
    // If even this cannot be written, the exit code still says it.
    _ = std::io::stderr().write_all(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Program::command().debug_assert();
    }
}
