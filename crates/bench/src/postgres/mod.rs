//! Measurements on PostgreSQL, with Kafka or a counting sink behind it. Everything that is compared is measured in one run, on the same
//! rows, and the median of several rounds counts.

mod crowd;
mod drain;
mod history;
mod kafka;
mod latency;
mod meter;
mod publisher;
mod report;
pub(crate) mod shop;
mod tax;

use std::{path::PathBuf, time::Duration};

use posthaste::Result;

pub use self::report::{Cost, Crowd, Drained, History, Latency, Report, Tax};
use self::{meter::Meter, shop::Shop};

/// What to measure, and how much.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The database; a schema of its own is made in it and removed.
    pub database: String,
    /// Kafka's brokers; without them only the counting sink is measured.
    pub brokers: Option<String>,
    /// Where Kafka's jars are, for its own producer benchmark.
    pub kafka_jars: Option<PathBuf>,
    /// How many events to drain.
    pub events: u64,
    /// How often to repeat what is compared; the median counts.
    pub rounds: usize,
    /// At which rates latency is measured, in events a second.
    pub rates: Vec<u32>,
    /// For how long.
    pub duration: Duration,
    /// How many delivered events the long history has.
    pub history: u64,
    /// For how long a snapshot is held open under load.
    pub held: Duration,
    /// What to measure; nothing means everything.
    pub only: Vec<Part>,
}

/// The parts of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Draining a backlog.
    Drain,
    /// Several relays.
    Relays,
    /// From commit to acknowledgement.
    Latency,
    /// What publishing costs.
    Tax,
    /// A held snapshot and a long history.
    History,
}

impl Plan {
    fn wants(&self, part: Part) -> bool {
        self.only.is_empty() || self.only.contains(&part)
    }
}

/// Measures, telling each step as it begins.
pub async fn run(plan: &Plan, mut tell: impl FnMut(&str)) -> Result<Report> {
    let mut report = Report::default();
    let shop = Shop::open(&plan.database).await?;
    let meter = Meter::new(&shop, plan.brokers.as_deref()).await?;
    if plan.wants(Part::Tax) {
        tell("publishing: an order alone, with the outbox, with a status column");
        report.tax = tax::measure(&shop, plan.rounds).await?;
    }
    if plan.wants(Part::Drain) || plan.wants(Part::Relays) {
        tell(&format!("publishing {} events", plan.events));
        shop.fill(plan.events).await?;
    }
    if plan.wants(Part::Drain) {
        tell("draining, beside a bare window read and COPY over the same rows");
        report.drain = drain::measure(&shop, &meter, plan, &mut tell).await?;
    }
    if plan.wants(Part::Relays) {
        tell("draining by 1, 2 and 4 relays");
        report.crowd = crowd::measure(&shop, plan).await?;
    }
    if plan.wants(Part::Latency) {
        report.latency = latency::measure(plan, &meter, &mut tell).await?;
    }
    if plan.wants(Part::History) {
        report.history = history::measure(plan, &mut tell).await?;
    }
    shop.close().await?;
    Ok(report)
}
