//! What was seen in the demo, and the same as a history that the test kit's checker can judge.

use std::{
    ops::Range,
    time::{Duration, Instant},
};

use posthaste::DeadLetter;
use posthaste_testkit::history::{History, Received, SubscriptionHistory};

use super::{receipts::Seen, shop::Books};

/// Everything that the summary is computed from.
#[derive(Debug)]
pub(crate) struct Facts {
    pub(crate) books: Books,
    pub(crate) subscribers: Vec<SubscriberFacts>,
    /// How many orders the shop's own table has.
    pub(crate) orders_in_table: u64,
    /// When one destination was down.
    pub(crate) outage: Range<Instant>,
    /// How long everything took.
    pub(crate) took: Duration,
}

/// What one subscriber saw, and what the log says of it.
#[derive(Clone, Debug)]
pub(crate) struct SubscriberFacts {
    pub(crate) name: &'static str,
    pub(crate) seen: Seen,
    pub(crate) dead: Vec<DeadLetter>,
    /// How many attempts the journal counts for what came while it was down.
    pub(crate) attempts_during_outage: u64,
}

impl Facts {
    pub(super) fn subscriber(&self, name: &str) -> Option<&SubscriberFacts> {
        self.subscribers.iter().find(|subscriber| subscriber.name == name)
    }

    pub(super) fn committed(&self) -> u64 {
        self.books.sold.len() as u64
    }

    /// How many events were committed while the destination was down.
    pub(super) fn committed_during_outage(&self) -> u64 {
        self.books.sold.iter().filter(|sold| self.outage.contains(&sold.committed_at)).count() as u64
    }

    /// As the checker of the test kit wants it.
    pub(super) fn history(&self) -> History {
        History {
            committed: self.books.sold.iter().map(|sold| sold.event.clone()).collect(),
            rolled_back: self.books.rolled_back.clone(),
            subscriptions: self.subscribers.iter().map(SubscriberFacts::history).collect(),
        }
    }
}

impl SubscriberFacts {
    fn history(&self) -> SubscriptionHistory {
        let received = self.seen.receipts.iter();
        SubscriptionHistory {
            name: self.name.to_owned(),
            received: received
                .map(|receipt| Received { id: receipt.id, relay: None, at: receipt.at })
                .collect(),
            dead: self.dead.clone(),
            own_failures: Some(self.seen.failures.clone()),
            // Nothing crashed and nobody lost a lease: there is no reason for a repeat.
            repeats_allowed: Some(0),
            finished: true,
            ..SubscriptionHistory::default()
        }
    }
}
