//! Measurements of Posthaste on SQLite, in [`postgres`] on PostgreSQL with Kafka, and in [`pages`] what it takes to ask how a very large log stands. Everything that is compared is measured in one run, on the same rows.

mod drain;
mod latency;
mod memory;
mod null_sink;
pub mod pages;
pub mod postgres;
mod publish;
mod report;
mod shop;
mod statements;
mod waits;

use std::time::Duration;

use posthaste::Result;

pub use self::report::{Drain, Latency, Publish, Report, Statements};

/// How much to measure.
#[derive(Clone, Debug)]
pub struct Plan {
    /// How many events to drain.
    pub events: u64,
    /// How often to repeat what is compared; the median counts.
    pub rounds: usize,
    /// At which rate the latency is measured, in events a second.
    pub rate: u32,
    /// For how long.
    pub duration: Duration,
}

impl Default for Plan {
    fn default() -> Self {
        Self { events: 1_000_000, rounds: 3, rate: 500, duration: Duration::from_secs(10) }
    }
}

/// Measures everything, telling each step as it begins.
pub async fn run(plan: &Plan, mut tell: impl FnMut(&str)) -> Result<Report> {
    tell("publishing with and without the outbox");
    let publish = publish::measure(plan.rounds).await?;
    tell("counting statements");
    let statements = statements::measure(plan.events.min(100_000)).await?;
    tell("draining, beside a bare SELECT loop over the same rows");
    let drain = drain::measure(plan, &mut tell).await?;
    tell("latency from commit to listener: without a key, from memory");
    let hot = latency::measure(plan, latency::Way::Hot).await?;
    tell("latency from commit to listener: with a key, by the doorbell");
    let keyed = latency::measure(plan, latency::Way::Keyed).await?;
    Ok(Report { publish, drain, statements, hot, keyed })
}

/// The middle one of several measurements.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
