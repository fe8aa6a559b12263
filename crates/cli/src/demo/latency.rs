//! How long it takes from a commit to a listener.

use std::{collections::HashMap, time::Duration};

use super::facts::{Facts, SubscriberFacts};

/// The times of one kind of event.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Latency {
    pub(super) events: u64,
    pub(super) p50: Duration,
    pub(super) p99: Duration,
}

/// Of events without a key, which come from memory, and of those with one, which are read from the log.
pub(super) fn measure(facts: &Facts, subscriber: &SubscriberFacts) -> (Option<Latency>, Option<Latency>) {
    let mut arrived = HashMap::new();
    for receipt in &subscriber.seen.receipts {
        arrived.entry(receipt.id).or_insert(receipt.instant);
    }
    let mut unkeyed = Vec::new();
    let mut keyed = Vec::new();
    for sold in &facts.books.sold {
        let Some(instant) = arrived.get(&sold.event.id) else { continue };
        let time = instant.saturating_duration_since(sold.committed_at);
        if sold.event.key.is_some() { keyed.push(time) } else { unkeyed.push(time) }
    }
    (summarise(unkeyed), summarise(keyed))
}

fn summarise(mut times: Vec<Duration>) -> Option<Latency> {
    times.sort_unstable();
    let p50 = *times.get(times.len() / 2)?;
    let p99 = *times.get(times.len() * 99 / 100)?;
    Some(Latency { events: times.len() as u64, p50, p99 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_the_sorted_times() {
        let times = (1..=200).rev().map(Duration::from_micros).collect();
        let expected =
            Latency { events: 200, p50: Duration::from_micros(101), p99: Duration::from_micros(199) };

        assert_eq!(summarise(times), Some(expected));
        assert_eq!(summarise(Vec::new()), None);
    }
}
