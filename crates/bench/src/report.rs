//! What was measured, as data and as text.

use std::fmt;

use serde::Serialize;

/// All measurements of one run.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Publishing.
    pub publish: Publish,
    /// Draining.
    pub drain: Drain,
    /// Statements.
    pub statements: Statements,
    /// Latency of events without a key, delivered from memory.
    pub hot: Latency,
    /// Latency of events with a key, delivered by the doorbell.
    pub keyed: Latency,
}

/// What publishing costs.
#[derive(Debug, Serialize)]
pub struct Publish {
    /// Transactions a second that insert one row of business data.
    pub without_outbox: f64,
    /// Transactions a second that also publish one event.
    pub with_outbox: f64,
    /// Events a second published 10,000 to a transaction.
    pub bulk: f64,
}

/// How fast a backlog goes.
#[derive(Debug, Serialize)]
pub struct Drain {
    /// How many events.
    pub events: u64,
    /// Rows a second of a bare `SELECT` loop over the same rows, with all columns of an event.
    pub bare: f64,
    /// The same with only position, key, topic, type and payload.
    pub bare_lean: f64,
    /// Events a second through the relay to a sink that only counts.
    pub relay: f64,
    /// The relay as a share of the faster bare loop: the median of the rounds' own ratios.
    pub ratio: f64,
    /// The most memory the process had while the relay drained.
    pub peak_rss_mb: Option<f64>,
    /// Processor time of the whole process an event, SQLite included.
    pub cpu_micros_per_event: Option<f64>,
}

/// How many statements the database is asked.
#[derive(Debug, Serialize)]
pub struct Statements {
    /// How many events were drained for it.
    pub events: u64,
    /// Statements an event.
    pub per_event: f64,
}

/// From when a commit returned until the listener was called, in microseconds.
#[derive(Debug, Serialize)]
pub struct Latency {
    /// Events a second, open loop.
    pub rate: u32,
    /// How many were measured.
    pub events: u64,
    /// Half were faster.
    pub p50: u64,
    /// 99 of 100 were faster.
    pub p99: u64,
    /// 999 of 1,000 were faster.
    pub p999: u64,
    /// The slowest.
    pub max: u64,
    /// How many took at most so many microseconds.
    pub histogram: Vec<(u64, u64)>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Publish { without_outbox, with_outbox, bulk } = self.publish;
        writeln!(f, "publish   {without_outbox:>10.0} tx/s without the outbox")?;
        writeln!(
            f,
            "          {with_outbox:>10.0} tx/s with one event each ({:.0} %)",
            100.0 * with_outbox / without_outbox
        )?;
        writeln!(f, "          {bulk:>10.0} events/s, 10,000 a transaction")?;
        let drain = &self.drain;
        writeln!(
            f,
            "drain     {:>10.0} rows/s   bare SELECT loop over {} events, all columns",
            drain.bare, drain.events
        )?;
        writeln!(f, "          {:>10.0} rows/s   bare SELECT loop, five columns", drain.bare_lean)?;
        writeln!(
            f,
            "          {:>10.0} events/s relay to a counting sink ({:.0} % of the faster loop)",
            drain.relay,
            100.0 * drain.ratio
        )?;
        if let Some(rss) = drain.peak_rss_mb {
            writeln!(f, "          {rss:>10.1} MB       peak memory while draining")?;
        }
        if let Some(cpu) = drain.cpu_micros_per_event {
            writeln!(f, "          {cpu:>10.2} µs       processor time an event, SQLite included")?;
        }
        writeln!(f, "          {:>10.4} statements an event", self.statements.per_event)?;
        write_latency(f, "hot path", &self.hot)?;
        write_latency(f, "doorbell", &self.keyed)
    }
}

fn write_latency(f: &mut fmt::Formatter<'_>, name: &str, latency: &Latency) -> fmt::Result {
    let Latency { rate, events, p50, p99, p999, max, histogram } = latency;
    writeln!(
        f,
        "{name}  {p50:>10} µs p50, {p99} µs p99, {p999} µs p99.9, {max} µs max; {events} events at {rate}/s"
    )?;
    let mut before = 0;
    for (limit, count) in histogram {
        if before == *events {
            break;
        }
        let share = 100.0 * (*count - before) as f64 / (*events).max(1) as f64;
        writeln!(f, "          {limit:>8} µs {share:>5.1} % {}", "▪".repeat((share / 2.0).round() as usize))?;
        before = *count;
    }
    Ok(())
}
