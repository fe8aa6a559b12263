//! Puts together what a log tells of a subscription when everything is over.

use posthaste_core::{DeadFilter, DeadLetter, Inspect, Lane, Result, memory::MemoryStore};

use super::{LineWritten, Received, SubscriptionHistory};
use crate::flaky::Receipt;

/// As many dead letters as one page may have.
const PAGE: u32 = 1_000;

/// All dead letters of a subscription, resolved ones as well.
pub async fn all_dead(log: &dyn Inspect, subscription: &str) -> Result<Vec<DeadLetter>> {
    let mut filter = all_of(subscription);
    let mut letters = Vec::new();
    loop {
        let page = log.dead(&filter).await?;
        letters.extend(page.items);
        filter.cursor = page.next;
        if filter.cursor.is_none() {
            return Ok(letters);
        }
    }
}

/// What a log in memory tells of a subscription: dead letters, what is parked, cursors and lines. What was received,
/// what was not wanted and what is allowed is for the caller to add.
#[must_use]
pub fn of_store(store: &MemoryStore, subscription: &str) -> SubscriptionHistory {
    let lanes = (0..store.capabilities().lanes).map(Lane);
    let lines: Vec<LineWritten> = lanes
        .flat_map(|lane| store.lines(subscription, lane).map(move |line| (lane, line)))
        .map(|(lane, line)| LineWritten {
            lane,
            n: line.n,
            kind: line.kind,
            relay: line.relay.clone(),
            cursor: line.cursor.clone(),
            at: line.at,
        })
        .collect();
    SubscriptionHistory {
        name: subscription.to_owned(),
        dead: dead_of(store, subscription),
        parked: store.parked_positions(subscription).collect(),
        // The last line of a lane comes last, and stays.
        cursors: lines.iter().map(|line| (line.lane, line.cursor.clone())).collect(),
        lines,
        ..SubscriptionHistory::default()
    }
}

fn dead_of(store: &MemoryStore, subscription: &str) -> Vec<DeadLetter> {
    let mut filter = all_of(subscription);
    let mut letters = Vec::new();
    loop {
        let Ok(page) = store.dead(&filter) else { return letters };
        letters.extend(page.items);
        filter.cursor = page.next;
        if filter.cursor.is_none() {
            return letters;
        }
    }
}

fn all_of(subscription: &str) -> DeadFilter {
    DeadFilter {
        subscription: Some(subscription.to_owned()),
        resolved: true,
        limit: PAGE,
        ..DeadFilter::default()
    }
}

impl From<&Receipt> for Received {
    fn from(receipt: &Receipt) -> Self {
        let relay = (!receipt.relay.is_empty()).then(|| posthaste_core::RelayId(receipt.relay.clone()));
        Self { id: receipt.id, relay, at: receipt.at }
    }
}
