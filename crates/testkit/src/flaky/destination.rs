//! The destination behind the flaky sink: what it received, and how it fails. Plain and deterministic.

use std::collections::{BTreeMap, BTreeSet};

use fastrand::Rng;
use posthaste_core::{Delivery, Entry, EventId, Fault, FaultKind, Lane, Position, Timestamp};

/// Something that was received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// The event's id.
    pub id: EventId,
    /// Its place in the log.
    pub position: Position,
    /// Its lane.
    pub lane: Lane,
    /// Its key.
    pub key: Option<String>,
    /// How many deliveries of it had failed before, as the relay said.
    pub attempts: u32,
    /// Which relay sent it.
    pub relay: String,
    /// When.
    pub at: Timestamp,
}

/// What a sink makes of its promise that nothing of a key is delivered after its fault.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Promise {
    /// It keeps it.
    #[default]
    Kept,
    /// It says that it keeps it, and delivers what comes behind a fault.
    Broken,
    /// It says that it cannot keep it, and does not.
    NotMade,
}

/// How many of a thousand deliveries fail, and how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Odds {
    /// Transient faults.
    pub transient: u16,
    /// Permanent faults.
    pub permanent: u16,
    /// Received, but the answer is a fault.
    pub lost_answer: u16,
}

#[derive(Debug)]
pub(super) enum Answer {
    Deliveries(Vec<Delivery>),
    Panic,
}

#[derive(Debug, Default)]
pub(super) struct Destination {
    pub(super) outage: Option<Fault>,
    pub(super) promise: Promise,
    pub(super) received: Vec<Receipt>,
    pub(super) own_failures: BTreeMap<EventId, u32>,
    pub(super) pings: u64,
    ills: BTreeMap<EventId, Ill>,
    chance: Option<(Rng, Odds)>,
}

/// How an event fails, and how often yet.
#[derive(Debug)]
struct Ill {
    left: u32,
    how: How,
}

#[derive(Clone, Debug)]
enum How {
    Refuse(Fault),
    LoseAnswer(Fault),
    Panic,
}

impl How {
    /// Whether the event is to blame, and not the destination's wish to wait.
    fn is_own(&self) -> bool {
        match self {
            How::Refuse(fault) | How::LoseAnswer(fault) => !matches!(fault.kind, FaultKind::Throttled { .. }),
            How::Panic => true,
        }
    }
}

impl Destination {
    pub(super) fn fail(&mut self, id: EventId, times: u32, fault: Fault) {
        self.ills.insert(id, Ill { left: times, how: How::Refuse(fault) });
    }

    pub(super) fn lose_answer(&mut self, id: EventId, times: u32, fault: Fault) {
        self.ills.insert(id, Ill { left: times, how: How::LoseAnswer(fault) });
    }

    pub(super) fn panic_on(&mut self, id: EventId, times: u32) {
        self.ills.insert(id, Ill { left: times, how: How::Panic });
    }

    pub(super) fn fail_by_chance(&mut self, seed: u64, odds: Odds) {
        self.chance = Some((Rng::with_seed(seed), odds));
    }

    pub(super) fn ping(&mut self) -> Result<(), Fault> {
        self.pings += 1;
        match &self.outage {
            Some(fault) if fault.kind == FaultKind::Unavailable => Err(fault.clone()),
            _ => Ok(()),
        }
    }

    pub(super) fn deliver(&mut self, batch: &[Entry], relay: &str, now: Timestamp) -> Answer {
        let mut stopped: BTreeSet<&str> = BTreeSet::new();
        let mut deliveries = Vec::with_capacity(batch.len());
        for entry in batch {
            let key = entry.event.key.as_deref();
            if self.promise == Promise::Kept && key.is_some_and(|key| stopped.contains(key)) {
                deliveries.push(Delivery::NotSent);
                continue;
            }
            let Some(fault) = self.take(entry, relay, now) else { return Answer::Panic };
            match fault {
                Ok(()) => deliveries.push(Delivery::Delivered),
                Err(fault) => {
                    stopped.extend(key);
                    deliveries.push(Delivery::Failed(fault));
                }
            }
        }
        Answer::Deliveries(deliveries)
    }

    /// Takes one entry, or fails with a fault; nothing if it panics.
    fn take(&mut self, entry: &Entry, relay: &str, now: Timestamp) -> Option<Result<(), Fault>> {
        if let Some(fault) = &self.outage {
            return Some(Err(fault.clone()));
        }
        let id = entry.event.id;
        let how = self.next_fault(id);
        if how.as_ref().is_some_and(How::is_own) {
            *self.own_failures.entry(id).or_default() += 1;
        }
        match how {
            None => {
                self.receive(entry, relay, now);
                Some(Ok(()))
            }
            Some(How::Refuse(fault)) => Some(Err(fault)),
            Some(How::LoseAnswer(fault)) => {
                self.receive(entry, relay, now);
                Some(Err(fault))
            }
            Some(How::Panic) => None,
        }
    }

    fn next_fault(&mut self, id: EventId) -> Option<How> {
        if let Some(ill) = self.ills.get_mut(&id) {
            ill.left = ill.left.checked_sub(1)?;
            return Some(ill.how.clone());
        }
        let (rng, odds) = self.chance.as_mut()?;
        let drawn = rng.u16(..1_000);
        if drawn < odds.transient {
            Some(How::Refuse(Fault::transient("failed by chance")))
        } else if drawn < odds.transient + odds.permanent {
            Some(How::Refuse(Fault::permanent("refused by chance")))
        } else if drawn < odds.transient + odds.permanent + odds.lost_answer {
            Some(How::LoseAnswer(Fault::timeout("no answer by chance")))
        } else {
            None
        }
    }

    fn receive(&mut self, entry: &Entry, relay: &str, now: Timestamp) {
        self.received.push(Receipt {
            id: entry.event.id,
            position: entry.position,
            lane: entry.lane,
            key: entry.event.key.clone(),
            attempts: entry.attempts,
            relay: relay.to_owned(),
            at: now,
        });
    }
}
