//! One second of every subscription: what the log says of it, and what the engine in this process did meanwhile. Pure.

use std::collections::BTreeMap;

use posthaste::{Status, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

use super::reading::{Counted, Reading};
use crate::exporter::BUCKETS;

/// One second.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sample {
    pub(crate) at: Timestamp,
    pub(crate) subscriptions: BTreeMap<String, Second>,
}

/// One second of one subscription. Small numbers, because many seconds are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, ToSchema)]
pub(crate) struct Second {
    /// Deliveries by this relay, a second.
    pub(crate) delivered_per_second: f32,
    /// Failed deliveries by this relay, a second.
    pub(crate) failed_per_second: f32,
    /// Events that died in this relay, a second.
    pub(crate) dead_per_second: f32,
    /// Half of the deliveries by this relay took at most so long since the event occurred, in milliseconds.
    pub(crate) latency_p50_ms: Option<f32>,
    /// 99 of 100 did.
    pub(crate) latency_p99_ms: Option<f32>,
    /// Events ahead of the cursor.
    pub(crate) pending: u32,
    /// Events parked for a retry or behind one.
    pub(crate) failed: u32,
    /// Events that are not due yet.
    pub(crate) delayed: u32,
    /// Unresolved dead letters.
    pub(crate) dead: u32,
    /// How old the oldest event is that is pending or failed, in seconds.
    pub(crate) lag_seconds: f32,
    /// Lanes that a live relay holds.
    pub(crate) lanes_held: u16,
    /// Whether an operator has paused it.
    pub(crate) paused: bool,
    /// Whether its destination is taken to be down.
    pub(crate) circuit_open: bool,
}

/// What the log says, and what was counted before and now, so many seconds apart.
pub(crate) struct Interval<'a> {
    pub(crate) status: &'a Status,
    pub(crate) before: &'a Reading,
    pub(crate) now: &'a Reading,
    pub(crate) seconds: f64,
}

/// The sample of an interval that ended at this time.
pub(crate) fn sample(at: Timestamp, interval: &Interval<'_>) -> Sample {
    let nothing = Counted::default();
    let seconds = interval.seconds.max(0.001);
    let subscriptions = interval.status.subscriptions.iter().map(|status| {
        let before = interval.before.0.get(&status.name).unwrap_or(&nothing);
        let now = interval.now.0.get(&status.name).unwrap_or(&nothing);
        let rate = |before: f64, now: f64| ((now - before).max(0.0) / seconds) as f32;
        let second = Second {
            delivered_per_second: rate(before.delivered, now.delivered),
            failed_per_second: rate(before.failed, now.failed),
            dead_per_second: rate(before.dead, now.dead),
            latency_p50_ms: latency(before, now, 0.5),
            latency_p99_ms: latency(before, now, 0.99),
            pending: small(status.pending),
            failed: small(status.failed),
            delayed: small(status.delayed),
            dead: small(status.dead),
            lag_seconds: status.oldest_age_seconds.unwrap_or(0.0) as f32,
            lanes_held: u16::try_from(status.lanes_held).unwrap_or(u16::MAX),
            paused: status.paused,
            circuit_open: now.circuit_open,
        };
        (status.name.clone(), second)
    });
    Sample { at, subscriptions: subscriptions.collect() }
}

fn small(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// How late this share of the deliveries of the interval was at most, in milliseconds: by straight lines between the bounds of the
/// histogram, as Prometheus does it.
fn latency(before: &Counted, now: &Counted, share: f64) -> Option<f32> {
    let count = now.latency_count - before.latency_count;
    if count < 1.0 {
        return None;
    }
    let rank = count * share;
    let (mut below, mut lower) = (0.0, 0.0);
    for (index, bound) in BUCKETS.iter().enumerate() {
        let upto = now.latency[index] - before.latency[index];
        if upto >= rank {
            let inside = ((rank - below) / (upto - below).max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
            return Some(((lower + (bound - lower) * inside) * 1_000.0) as f32);
        }
        (below, lower) = (upto, *bound);
    }
    // Later than the last bound: how much is not known.
    Some((lower * 1_000.0) as f32)
}

#[cfg(test)]
mod tests {
    use posthaste::SubscriptionStatus;

    use super::*;

    fn status() -> Status {
        let found = SubscriptionStatus {
            name: "a".to_owned(),
            pending: 5,
            dead: u64::MAX,
            oldest_age_seconds: Some(2.5),
            paused: true,
            ..SubscriptionStatus::default()
        };
        Status { subscriptions: vec![found], ..Status::default() }
    }

    fn reading(counted: Counted) -> Reading {
        Reading(BTreeMap::from([("a".to_owned(), counted), ("gone".to_owned(), Counted::default())]))
    }

    #[test]
    fn rates_are_differences_and_never_below_zero() {
        let before = reading(Counted { delivered: 100.0, failed: 10.0, ..Counted::default() });
        let now =
            reading(Counted { delivered: 150.0, failed: 3.0, circuit_open: true, ..Counted::default() });
        let interval = Interval { status: &status(), before: &before, now: &now, seconds: 2.0 };

        let sample = sample(Timestamp(1), &interval);
        let second = sample.subscriptions["a"];
        assert_eq!((second.delivered_per_second, second.failed_per_second), (25.0, 0.0));
        assert_eq!((second.pending, second.dead, second.lag_seconds), (5, u32::MAX, 2.5));
        assert!(second.paused && second.circuit_open && second.latency_p50_ms.is_none());
        assert_eq!(sample.subscriptions.len(), 1, "what the log does not have is not shown");
    }

    #[test]
    fn latencies_are_those_of_the_interval() {
        let old = Counted { latency: [50.0; BUCKETS.len()], latency_count: 50.0, ..Counted::default() };
        let mut latency_now = [150.0; BUCKETS.len()];
        // None of the hundred new ones below 1 ms, all of them below 2.5 ms.
        latency_now[0] = 50.0;
        let now = Counted { latency: latency_now, latency_count: 150.0, ..Counted::default() };

        assert_eq!(latency(&old, &now, 0.5), Some(1.75));
        assert_eq!(latency(&now, &now, 0.5), None);
        let late = Counted { latency_count: 151.0, ..now.clone() };
        assert_eq!(latency(&now, &late, 0.99), Some(300_000.0));
    }
}
