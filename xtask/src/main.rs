//! Development commands: `cargo xtask <command>`.
//!
//! `test` is the one that must pass before a change is merged. The others are parts of it that are useful alone.

#![expect(clippy::print_stdout, reason = "a program for people")]

#[cfg(unix)]
mod bench;
mod examples;
mod faults;
mod process;
#[cfg(unix)]
mod prove;
#[cfg(unix)]
mod services;
mod test;
mod workspace;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use crate::workspace::Workspace;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Posthaste's development commands")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Everything that must pass: format, lints, tests, examples, simulation, proof, faults, docs
    Test(test::Options),
    /// Run the examples and compare their output with examples/expected
    Examples(examples::Options),
    /// Run seeded schedules of relays that crash, stop and lose their leases
    #[command(disable_help_flag = true)]
    Simulate {
        /// Passed on: --schedules N for that many, --seed S to run exactly one again
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Break the code on purpose, one fault at a time, and see that each is caught
    Faults(faults::Options),
    /// Kill and stop real relays and servers under load, and judge what arrived
    #[cfg(unix)]
    Prove(prove::Options),
    /// Measure on a PostgreSQL and a Kafka of its own
    #[cfg(unix)]
    #[command(disable_help_flag = true)]
    Bench(bench::Options),
    /// Start, stop and list the servers that tests need
    #[cfg(unix)]
    #[command(subcommand)]
    Services(services::Action),
}

fn main() -> ExitCode {
    match run(Arguments::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\nerror: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result<()> {
    let workspace = Workspace::find()?;
    match command {
        Command::Test(options) => test::run(&workspace, &options),
        Command::Examples(options) => examples::run(&workspace, &options),
        Command::Simulate { arguments } => test::simulate(&workspace, &arguments),
        Command::Faults(options) => faults::run(&workspace, &options),
        #[cfg(unix)]
        Command::Prove(options) => prove::run(&workspace, &options),
        #[cfg(unix)]
        Command::Bench(options) => bench::run(&workspace, &options),
        #[cfg(unix)]
        Command::Services(action) => services::run(&workspace, action),
    }
}
