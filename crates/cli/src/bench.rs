//! `posthaste bench`: measures Posthaste on this machine, everything that is compared in one run.

use std::{io::Write, time::Duration};

use anyhow::Context;
use clap::Args;
use posthaste_bench::Plan;

use crate::{End, screen::print};

const EXAMPLES: &str = "\
Examples:
  posthaste bench
  posthaste bench --events 100000 --rounds 1 --duration 3s
  posthaste bench --json > figures.json

It works on SQLite files in the system's temporary folder and needs about 500 MB there for
a million events. Close other programs: the figures are of the whole machine.";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Options {
    /// How many events to drain
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1_000..))]
    events: u64,
    /// How often to repeat what is compared; the median counts
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..))]
    rounds: u8,
    /// At which rate to measure latency, in events a second
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    rate: u32,
    /// For how long to measure latency
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = humantime::parse_duration)]
    duration: Duration,
    /// Answer in JSON, for programs
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(options: Options) -> anyhow::Result<End> {
    let Options { events, rounds, rate, duration, json } = options;
    let plan = Plan { events, rounds: usize::from(rounds), rate, duration };
    // Progress goes to standard error; if that is closed there is nobody to tell.
    let report = posthaste_bench::run(&plan, |step| _ = writeln!(std::io::stderr(), "{step}")).await?;
    if json {
        let text = serde_json::to_string_pretty(&report).context("cannot write the figures as JSON")?;
        print(&format!("{text}\n"))?;
    } else {
        print(&report.to_string())?;
    }
    Ok(End::Fine)
}
