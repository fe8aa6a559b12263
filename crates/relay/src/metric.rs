//! The names of all metrics, in one place, and the functions that feed them.
//!
//! They go through the `metrics` facade, which costs nothing without a recorder. The prefix `outbox` can be changed
//! when a relay is built; labels are bounded: the subscription's name, a reason, a kind. Never an id or a key.

use std::time::Duration;

use metrics::{Counter, Gauge, Histogram, Label, SharedString};
use posthaste_core::{DeadReason, FaultKind};

/// The prefix of all names unless another is set.
pub const DEFAULT_PREFIX: &str = "outbox";

/// What a metric measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Only grows.
    Counter,
    /// Goes up and down.
    Gauge,
    /// A distribution.
    Histogram,
}

/// Every metric: its name behind the prefix, its kind, and what it says.
pub const ALL: &[(&str, Kind, &str)] = &[
    (PUBLISHED, Kind::Counter, "Events published through the library in committed or open transactions."),
    (DELIVERED, Kind::Counter, "Entries delivered."),
    (FAILED, Kind::Counter, "Deliveries that failed and are tried again."),
    (DEAD, Kind::Counter, "Events that became dead letters, by reason."),
    (SKIPPED, Kind::Counter, "Entries that a subscription's filter excludes."),
    (DELIVERY_SECONDS, Kind::Histogram, "How long a sink had a batch."),
    (RETRY_DELAY_SECONDS, Kind::Histogram, "How long failed events wait before they are tried again."),
    (LATENCY_SECONDS, Kind::Histogram, "From when an event occurred until it was delivered."),
    (VALIDATION_ERRORS, Kind::Counter, "Events that did not fit their schema or could not be understood."),
    (NETWORK_ERRORS, Kind::Counter, "Times a destination was found to be down."),
    (TIMEOUT_ERRORS, Kind::Counter, "Deliveries that took too long."),
    (TABLE_BYTES, Kind::Gauge, "Bytes that the tables take."),
    (PENDING, Kind::Gauge, "Events ahead of the cursor."),
    (PARKED, Kind::Gauge, "Events parked for a retry or behind one."),
    (DEAD_LETTERS, Kind::Gauge, "Unresolved dead letters."),
    (OLDEST_AGE_SECONDS, Kind::Gauge, "How old the oldest undelivered event is."),
    (HOT_ENQUEUED, Kind::Counter, "Events handed over for delivery from memory."),
    (HOT_DROPPED, Kind::Counter, "Events left to the log because the hot queue was full."),
    (HOT_DELIVERED, Kind::Counter, "Events delivered from memory."),
    (COLD_READ, Kind::Counter, "Entries read from the log."),
    (READS, Kind::Counter, "Reads of the log."),
    (SETTLEMENTS, Kind::Counter, "Appends of lines, each for many lanes."),
    (HOT_DEPTH, Kind::Gauge, "Events waiting for delivery from memory."),
    (COLD_DEPTH, Kind::Gauge, "Entries read from the log and not settled."),
    (LANES_HELD, Kind::Gauge, "Lanes that this relay holds."),
    (FENCED, Kind::Counter, "Lanes lost to another relay; what was not settled is delivered again."),
    (CIRCUIT_OPEN, Kind::Gauge, "1 while a subscription's destination is taken to be down."),
    (LOOP_ERRORS, Kind::Counter, "Failures of the relay's own loops, by loop."),
    (PRUNED, Kind::Counter, "Rows removed by retention."),
    (WORKED, Kind::Counter, "Dead letters that jobs have replayed or discarded."),
];

const PUBLISHED: &str = "events_published_total";
const DELIVERED: &str = "events_delivered_total";
const FAILED: &str = "events_failed_total";
const DEAD: &str = "events_dlq_total";
const SKIPPED: &str = "events_skipped_total";
const DELIVERY_SECONDS: &str = "delivery_duration_seconds";
const RETRY_DELAY_SECONDS: &str = "retry_delay_seconds";
const LATENCY_SECONDS: &str = "end_to_end_latency_seconds";
const VALIDATION_ERRORS: &str = "validation_errors_total";
const NETWORK_ERRORS: &str = "network_errors_total";
const TIMEOUT_ERRORS: &str = "timeout_errors_total";
const TABLE_BYTES: &str = "table_size_bytes";
const PENDING: &str = "pending_events_count";
const PARKED: &str = "parked_events_count";
const DEAD_LETTERS: &str = "dlq_events_count";
const OLDEST_AGE_SECONDS: &str = "oldest_age_seconds";
const HOT_ENQUEUED: &str = "hot_enqueued_total";
const HOT_DROPPED: &str = "hot_dropped_total";
const HOT_DELIVERED: &str = "hot_delivered_total";
const COLD_READ: &str = "cold_read_total";
const READS: &str = "reads_total";
const SETTLEMENTS: &str = "settlements_total";
const HOT_DEPTH: &str = "hot_queue_depth";
const COLD_DEPTH: &str = "cold_queue_depth";
const LANES_HELD: &str = "lanes_held";
const FENCED: &str = "fenced_settlements_total";
const CIRCUIT_OPEN: &str = "circuit_open";
const LOOP_ERRORS: &str = "loop_errors_total";
const PRUNED: &str = "pruned_rows_total";
const WORKED: &str = "job_letters_total";

/// The metrics of one subscription, looked up once.
#[derive(Clone)]
pub(crate) struct Metrics {
    prefix: SharedString,
    subscription: SharedString,
    pub(crate) delivered: Counter,
    pub(crate) skipped: Counter,
    pub(crate) delivery_seconds: Histogram,
    pub(crate) latency_seconds: Histogram,
    pub(crate) hot_enqueued: Counter,
    pub(crate) hot_dropped: Counter,
    pub(crate) hot_delivered: Counter,
    pub(crate) cold_read: Counter,
    pub(crate) reads: Counter,
    pub(crate) settlements: Counter,
    pub(crate) hot_depth: Gauge,
    pub(crate) cold_depth: Gauge,
    pub(crate) lanes_held: Gauge,
    pub(crate) fenced: Counter,
    pub(crate) circuit_open: Gauge,
    pub(crate) pending: Gauge,
    pub(crate) parked: Gauge,
    pub(crate) dead_letters: Gauge,
    pub(crate) oldest_age_seconds: Gauge,
}

impl Metrics {
    pub(crate) fn new(prefix: &str, subscription: &str) -> Self {
        let labels = vec![Label::new("subscription", subscription.to_owned())];
        let counter = |name| metrics::counter!(full_name(prefix, name), labels.clone());
        let gauge = |name| metrics::gauge!(full_name(prefix, name), labels.clone());
        let histogram = |name| metrics::histogram!(full_name(prefix, name), labels.clone());
        Self {
            delivered: counter(DELIVERED),
            skipped: counter(SKIPPED),
            delivery_seconds: histogram(DELIVERY_SECONDS),
            latency_seconds: histogram(LATENCY_SECONDS),
            hot_enqueued: counter(HOT_ENQUEUED),
            hot_dropped: counter(HOT_DROPPED),
            hot_delivered: counter(HOT_DELIVERED),
            cold_read: counter(COLD_READ),
            reads: counter(READS),
            settlements: counter(SETTLEMENTS),
            hot_depth: gauge(HOT_DEPTH),
            cold_depth: gauge(COLD_DEPTH),
            lanes_held: gauge(LANES_HELD),
            fenced: counter(FENCED),
            circuit_open: gauge(CIRCUIT_OPEN),
            pending: gauge(PENDING),
            parked: gauge(PARKED),
            dead_letters: gauge(DEAD_LETTERS),
            oldest_age_seconds: gauge(OLDEST_AGE_SECONDS),
            prefix: SharedString::from(prefix.to_owned()),
            subscription: SharedString::from(subscription.to_owned()),
        }
    }

    pub(crate) fn failed(&self, kind: FaultKind, reason: DeadReason, due_in: Duration) {
        self.count(FAILED, None);
        let labels = vec![Label::new("subscription", self.subscription.clone())];
        metrics::histogram!(full_name(&self.prefix, RETRY_DELAY_SECONDS), labels).record(due_in);
        self.error(kind, reason);
    }

    pub(crate) fn died(&self, reason: DeadReason) {
        self.count(DEAD, Some(Label::new("reason", reason.as_str())));
        if matches!(reason, DeadReason::PoisonMessage | DeadReason::SchemaValidationFailed) {
            self.count(VALIDATION_ERRORS, None);
        }
    }

    pub(crate) fn unreachable(&self) {
        self.count(NETWORK_ERRORS, None);
    }

    fn error(&self, kind: FaultKind, reason: DeadReason) {
        if reason == DeadReason::ProcessingTimeout {
            self.count(TIMEOUT_ERRORS, None);
        } else if kind == FaultKind::Unavailable {
            self.count(NETWORK_ERRORS, None);
        }
    }

    fn count(&self, name: &'static str, label: Option<Label>) {
        let mut labels = vec![Label::new("subscription", self.subscription.clone())];
        labels.extend(label);
        metrics::counter!(full_name(&self.prefix, name), labels).increment(1);
    }
}

/// Counts a failure of one of the relay's own loops.
pub(crate) fn loop_failed(prefix: &str, name: &'static str) {
    metrics::counter!(full_name(prefix, LOOP_ERRORS), "loop" => name).increment(1);
}

/// Counts rows that retention removed.
pub(crate) fn pruned(prefix: &str, rows: u64) {
    metrics::counter!(full_name(prefix, PRUNED)).increment(rows);
}

/// Counts dead letters that a job has replayed or discarded.
pub(crate) fn worked(prefix: &str, letters: u64) {
    metrics::counter!(full_name(prefix, WORKED)).increment(letters);
}

/// Notes how many bytes the tables take.
pub(crate) fn table_bytes(prefix: &str, bytes: u64) {
    #[expect(
        clippy::cast_precision_loss,
        reason = "a gauge is a float, and tables are smaller than 2^52 bytes"
    )]
    metrics::gauge!(full_name(prefix, TABLE_BYTES)).set(bytes as f64);
}

/// Counts events that an application published.
pub fn published(prefix: &str, count: u64) {
    metrics::counter!(full_name(prefix, PUBLISHED)).increment(count);
}

/// Tells the recorder what each metric says. To be called once a recorder is installed.
pub fn describe(prefix: &str) {
    for (name, kind, text) in ALL {
        let name = full_name(prefix, name);
        match kind {
            Kind::Counter => metrics::describe_counter!(name, *text),
            Kind::Gauge => metrics::describe_gauge!(name, *text),
            Kind::Histogram => metrics::describe_histogram!(name, *text),
        }
    }
}

fn full_name(prefix: &str, name: &str) -> String {
    format!("{prefix}_{name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documentation_lists_every_metric() {
        let page = include_str!("../../../docs/metrics.md");
        let listed = page.lines().filter(|line| line.starts_with("| `")).count();

        assert_eq!(listed, ALL.len());
        for (name, kind, text) in ALL {
            let row = format!("| `outbox_{name}` | {} | {text} |", format!("{kind:?}").to_lowercase());
            assert!(page.contains(&row), "docs/metrics.md lacks: {row}");
        }
    }
}
