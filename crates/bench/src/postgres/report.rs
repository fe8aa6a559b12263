//! What was measured, as data and as text.

use std::fmt;

use serde::Serialize;

use crate::median;

/// All measurements of one run; what was not asked for is empty.
#[derive(Debug, Default, Serialize)]
pub struct Report {
    /// Publishing.
    pub tax: Vec<Tax>,
    /// Draining, and what it is compared with.
    pub drain: Vec<Drained>,
    /// Several relays.
    pub crowd: Vec<Crowd>,
    /// From commit to acknowledgement.
    pub latency: Vec<Latency>,
    /// A held snapshot and a long history.
    pub history: Vec<History>,
}

/// Transactions a second that insert an order.
#[derive(Debug, Serialize)]
pub struct Tax {
    /// How many publish at once.
    pub clients: usize,
    /// What is inserted besides the order.
    pub what: String,
    /// The median.
    pub rate: f64,
}

/// One way through a backlog.
#[derive(Debug, Serialize)]
pub struct Drained {
    /// Which.
    pub way: String,
    /// Events or rows a second, the median.
    pub rate: f64,
    /// Events a second from the middle one on, the median; nothing where nobody can tell.
    pub second_half: Option<f64>,
    /// What it used, the median; nothing for what another program did.
    pub cost: Option<Cost>,
}

/// What an event costs.
#[derive(Clone, Debug, Serialize)]
pub struct Cost {
    /// Processor time of this process.
    pub relay_micros: Option<f64>,
    /// Processor time of PostgreSQL.
    pub postgres_micros: Option<f64>,
    /// Processor time of Kafka.
    pub kafka_micros: Option<f64>,
    /// The most memory that this process had.
    pub peak_rss_mb: Option<f64>,
    /// What PostgreSQL wrote into its write-ahead log.
    pub wal_bytes: f64,
}

impl Cost {
    /// The median of several rounds, but of memory the most.
    pub(crate) fn median(costs: &[Self]) -> Option<Self> {
        let middle = |pick: fn(&Self) -> Option<f64>| {
            let values: Vec<f64> = costs.iter().filter_map(pick).collect();
            (!values.is_empty()).then(|| median(values))
        };
        Some(Self {
            relay_micros: middle(|cost| cost.relay_micros),
            postgres_micros: middle(|cost| cost.postgres_micros),
            kafka_micros: middle(|cost| cost.kafka_micros),
            peak_rss_mb: costs.iter().filter_map(|cost| cost.peak_rss_mb).reduce(f64::max),
            wal_bytes: middle(|cost| Some(cost.wal_bytes))?,
        })
    }
}

/// Several relays on one backlog.
#[derive(Debug, Serialize)]
pub struct Crowd {
    /// How many.
    pub relays: usize,
    /// Events a second of all of them together, the median.
    pub rate: f64,
}

/// From when a commit returned until the destination had acknowledged the event, in microseconds.
#[derive(Debug, Serialize)]
pub struct Latency {
    /// Which way the events went.
    pub way: String,
    /// Events a second, open loop.
    pub rate: u32,
    /// How many were measured.
    pub events: u64,
    /// Half were faster, in half of the rounds.
    pub p50: u64,
    /// 99 of 100 were faster, in half of the rounds.
    pub p99: u64,
    /// The slowest of all rounds.
    pub max: u64,
    /// As `p50`, until the sink was given the event. What an event takes after that is the destination's, but percentiles cannot be
    /// subtracted.
    pub found_p50: u64,
    /// As `p99`, until the sink was given the event.
    pub found_p99: u64,
    /// What share of one core the relay used, its sink included and publishers not.
    pub cpu_share: Option<f64>,
}

impl Latency {
    /// The median of several rounds of one way, but of the slowest the slowest.
    pub(crate) fn median(rounds: &[Self]) -> Option<Self> {
        let first = rounds.first()?;
        let middle =
            |pick: fn(&Self) -> u64| median(rounds.iter().map(|round| pick(round) as f64).collect()) as u64;
        let shares: Vec<f64> = rounds.iter().filter_map(|round| round.cpu_share).collect();
        Some(Self {
            way: first.way.clone(),
            rate: first.rate,
            events: rounds.iter().map(|round| round.events).sum(),
            p50: middle(|round| round.p50),
            p99: middle(|round| round.p99),
            max: rounds.iter().map(|round| round.max).max()?,
            found_p50: middle(|round| round.found_p50),
            found_p99: middle(|round| round.found_p99),
            cpu_share: (!shares.is_empty()).then(|| median(shares)),
        })
    }
}

/// What a condition changes.
#[derive(Debug, Serialize)]
pub struct History {
    /// Which condition.
    pub condition: String,
    /// Events a second to a counting sink.
    pub drain: f64,
    /// Latency by the doorbell, in microseconds, the median of all rounds.
    pub p50: f64,
    /// 99 of 100 were faster, in half of the rounds.
    pub p99: f64,
    /// Dead rows in the tables of the outbox after it, the most of all rounds.
    pub dead_rows: i64,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for drained in &self.drain {
            let late = drained.second_half.map(|rate| format!(", {rate:.0} in the second half"));
            writeln!(
                f,
                "drain     {:>10.0} events/s  {}{}",
                drained.rate,
                drained.way,
                late.unwrap_or_default()
            )?;
            if let Some(cost) = &drained.cost {
                writeln!(f, "                               {cost}")?;
            }
        }
        for Crowd { relays, rate } in &self.crowd {
            writeln!(f, "relays    {rate:>10.0} events/s  by {relays} of them")?;
        }
        for latency in &self.latency {
            writeln!(f, "latency   {latency}")?;
        }
        for Tax { clients, what, rate } in &self.tax {
            writeln!(f, "publish   {rate:>10.0} tx/s      {clients} at once, an order and {what}")?;
        }
        for History { condition, drain, p50, p99, dead_rows } in &self.history {
            writeln!(
                f,
                "history   {drain:>10.0} events/s, {p50:.0} µs p50, {p99:.0} µs p99, {dead_rows} dead rows: {condition}"
            )?;
        }
        Ok(())
    }
}

impl fmt::Display for Latency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { way, rate, events, p50, p99, max, found_p50, found_p99, cpu_share } = self;
        let share = share(*cpu_share);
        write!(
            f,
            "{p50:>7} µs p50, {p99} µs p99, {max} µs max; until the sink had them {found_p50} and {found_p99} µs; \
             {events} events at {rate}/s, {way}{share}"
        )
    }
}

fn share(cpu: Option<f64>) -> String {
    cpu.map_or_else(String::new, |cpu| format!(", relay {:.1} % of a core", 100.0 * cpu))
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            self.relay_micros.map(|value| format!("{value:.2} µs relay")),
            self.postgres_micros.map(|value| format!("{value:.2} µs PostgreSQL")),
            self.kafka_micros.map(|value| format!("{value:.2} µs Kafka")),
            self.peak_rss_mb.map(|value| format!("{value:.0} MB at most")),
            Some(format!("{:.1} bytes of write-ahead log", self.wal_bytes)),
        ];
        f.write_str(&parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
    }
}
