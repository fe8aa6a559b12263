//! `posthaste bench`: measures Posthaste on this machine, everything that is compared in one run.

mod pages;
mod questions;

use std::{fmt, io::Write, path::PathBuf, time::Duration};

use anyhow::Context;
use clap::{Args, ValueEnum};
use posthaste_bench::{Plan, postgres};
use serde::Serialize;

use crate::{End, exit::Coded, screen::print};

const EXAMPLES: &str = "\
Examples:
  posthaste bench
  posthaste bench --events 100000 --rounds 1 --duration 3s
  posthaste bench --json > figures.json
  posthaste bench --database postgres://postgres@localhost/scratch --kafka localhost:9092 \\
    --kafka-jars kafka/libs --duration 60s
  posthaste bench --only pages

Without a database it works on SQLite files in the system's temporary folder and needs about
500 MB there for a million events. In PostgreSQL it makes a schema posthaste_bench and removes
it. Close other programs: the figures are of the whole machine.

The pages of the dashboard are measured only if they are named. They are opened over a log with
--history events, and the exit code is 1 if one of them takes more than 50 ms.";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Options {
    /// How many events to drain
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1_000..))]
    events: u64,
    /// How often to repeat what is compared; the median counts
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..))]
    rounds: u8,
    /// At which rate to measure latency, in events a second; PostgreSQL is measured at this rate and at twice as much
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    rate: u32,
    /// For how long to measure latency
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = humantime::parse_duration)]
    duration: Duration,
    /// A PostgreSQL database to measure on, as a user that may create schemas
    #[arg(long, value_name = "URL")]
    database: Option<String>,
    /// Kafka's brokers, to measure delivering to them
    #[arg(long, value_name = "BROKERS", requires = "database")]
    kafka: Option<String>,
    /// The folder with Kafka's jars, to run its own producer benchmark beside ours
    #[arg(long, value_name = "FOLDER", requires = "kafka")]
    kafka_jars: Option<PathBuf>,
    /// How many delivered events the long history has
    #[arg(long, value_name = "N", default_value_t = 10_000_000, value_parser = clap::value_parser!(u64).range(1_000..))]
    history: u64,
    /// For how long a snapshot is held open under load
    #[arg(long, value_name = "TIME", default_value = "3m", value_parser = humantime::parse_duration, requires = "database")]
    held: Duration,
    /// Only these parts, separated by commas; without a database pages is the only one
    #[arg(long, value_name = "PARTS", value_delimiter = ',')]
    only: Vec<Part>,
    /// Answer in JSON, for programs
    #[arg(long)]
    json: bool,
}

impl Options {
    /// Whether it measures on PostgreSQL, and not on files of its own.
    pub(crate) fn is_on_a_server(&self) -> bool {
        self.database.is_some()
    }
}

/// How often a page is opened in a round.
const TIMES_A_ROUND: usize = 10;

/// What can be measured alone.
#[derive(Clone, Copy, ValueEnum)]
enum Part {
    Drain,
    Relays,
    Latency,
    Tax,
    History,
    Pages,
}

impl Part {
    /// The part as the measurements on PostgreSQL know it, if it is one of them.
    fn on_postgres(self) -> Option<postgres::Part> {
        Some(match self {
            Part::Drain => postgres::Part::Drain,
            Part::Relays => postgres::Part::Relays,
            Part::Latency => postgres::Part::Latency,
            Part::Tax => postgres::Part::Tax,
            Part::History => postgres::Part::History,
            Part::Pages => return None,
        })
    }
}

pub(crate) async fn run(options: Options) -> anyhow::Result<End> {
    // Progress goes to standard error; if that is closed there is nobody to tell.
    let tell = |step: &str| _ = writeln!(std::io::stderr(), "{step}");
    let json = options.json;
    let parts: Vec<postgres::Part> = options.only.iter().filter_map(|part| part.on_postgres()).collect();
    if options.only.len() > parts.len() {
        if !parts.is_empty() {
            return Err(Coded::not_understood(
                "--only pages goes with no other part; measure the others in a run of their own",
            ));
        }
        let times = usize::from(options.rounds) * TIMES_A_ROUND;
        let report = pages::measure(options.database.as_deref(), options.history, times, tell).await?;
        show(&report, json)?;
        return Ok(if report.is_fine() { End::Fine } else { End::Bad });
    }
    let Some(database) = options.database else {
        if !parts.is_empty() {
            return Err(Coded::not_understood(
                "--only names a part that needs PostgreSQL; add --database URL",
            ));
        }
        let Options { events, rounds, rate, duration, .. } = options;
        let plan = Plan { events, rounds: usize::from(rounds), rate, duration };
        return show(&posthaste_bench::run(&plan, tell).await?, json);
    };
    let plan = postgres::Plan {
        database,
        brokers: options.kafka,
        kafka_jars: options.kafka_jars,
        events: options.events,
        rounds: usize::from(options.rounds),
        rates: vec![options.rate, options.rate.saturating_mul(2)],
        duration: options.duration,
        history: options.history,
        held: options.held,
        only: parts,
    };
    show(&postgres::run(&plan, tell).await?, json)
}

fn show(report: &(impl fmt::Display + Serialize), json: bool) -> anyhow::Result<End> {
    if json {
        let text = serde_json::to_string_pretty(report).context("cannot write the figures as JSON")?;
        print(&format!("{text}\n"))?;
    } else {
        print(&report.to_string())?;
    }
    Ok(End::Fine)
}
