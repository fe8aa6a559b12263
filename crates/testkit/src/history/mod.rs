//! The history checker: judges by the rules of the design what was committed, and what each subscription received.
//!
//! It is pure: a simulation, a test with fakes and a test with real servers all write down what happened as a
//! [`History`], and [`check`] answers with a [`Report`]. What is exempt from the order within a key is what the
//! documentation says: repeats, delayed events, and dead letters that were sent again.

mod conduct;
mod gather;
mod loss;
mod order;
mod report;

use std::collections::{BTreeMap, BTreeSet};

use posthaste_core::{ActKind, Cursor, DeadLetter, EventId, Lane, Order, Position, RelayId, Timestamp};

pub use self::{
    gather::{all_dead, of_store},
    report::{Breach, Counts, Report, Rule},
};

/// Everything that happened to one log.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// The events whose transactions committed.
    pub committed: Vec<Committed>,
    /// The events whose transactions did not. Nobody may ever see them.
    pub rolled_back: BTreeSet<EventId>,
    /// What happened in each subscription.
    pub subscriptions: Vec<SubscriptionHistory>,
}

/// An event whose transaction committed.
#[derive(Clone, Debug)]
pub struct Committed {
    /// Its id.
    pub id: EventId,
    /// Its place in the log.
    pub position: Position,
    /// Its lane.
    pub lane: Lane,
    /// Its key.
    pub key: Option<String>,
    /// When it was to be delivered at the earliest.
    pub deliver_after: Option<Timestamp>,
}

/// What happened in one subscription.
#[derive(Clone, Debug, Default)]
pub struct SubscriptionHistory {
    /// Its name.
    pub name: String,
    /// Whether events of one key keep their order.
    pub order: Order,
    /// Committed events that its filter or its start excludes.
    pub unwanted: BTreeSet<EventId>,
    /// Committed events that an operator made late by moving the cursor. Dead letters that were sent again need not be
    /// named.
    pub late: BTreeSet<EventId>,
    /// Everything that its destination received, in order, repeats included.
    pub received: Vec<Received>,
    /// All its dead letters, resolved ones as well.
    pub dead: Vec<DeadLetter>,
    /// Where something is parked at the end.
    pub parked: BTreeSet<Position>,
    /// How far each lane is settled at the end.
    pub cursors: BTreeMap<Lane, Cursor>,
    /// The lines of its lanes, each lane's in order; none if they are not known.
    pub lines: Vec<LineWritten>,
    /// How often each event failed by its own fault, as the destination saw it; none if that is not known.
    pub own_failures: Option<BTreeMap<EventId, u32>>,
    /// How many attempts the log counts for events that are parked at the end. Dead letters tell theirs themselves.
    pub attempts: BTreeMap<EventId, u32>,
    /// How many repeats the documentation allows for what was done to it; none if anything goes.
    pub repeats_allowed: Option<u64>,
    /// Whether it was left alone until nothing was left to do: then everything must be delivered or dead.
    pub finished: bool,
}

/// Something that a destination received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    /// The event's id.
    pub id: EventId,
    /// Which relay sent it, if that is known.
    pub relay: Option<RelayId>,
    /// When, by the clock of the log.
    pub at: Timestamp,
}

/// A line of a lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineWritten {
    /// The lane.
    pub lane: Lane,
    /// Its number.
    pub n: i64,
    /// What was done.
    pub kind: ActKind,
    /// Who did it.
    pub relay: Option<RelayId>,
    /// How far the lane is settled after it.
    pub cursor: Cursor,
    /// When.
    pub at: Timestamp,
}

/// Judges a history. An empty list of breaches means that every rule held.
#[must_use]
pub fn check(history: &History) -> Report {
    let mut report = Report::default();
    for subscription in &history.subscriptions {
        let case = Case::new(history, subscription);
        let breaches = [
            case.judge_strangers(),
            case.judge_loss(),
            case.judge_replays(),
            case.judge_order(),
            case.judge_replay_order(),
            case.judge_due_times(),
            case.judge_held_keys(),
            case.judge_attempts(),
            case.judge_repeats(),
            case.judge_lines(),
            case.judge_holders(),
        ];
        report.breaches.extend(breaches.into_iter().flatten());
        report.counts.push(case.counts());
    }
    report
}

/// One subscription with what is needed to judge it.
struct Case<'a> {
    history: &'a History,
    subscription: &'a SubscriptionHistory,
    committed: BTreeMap<EventId, &'a Committed>,
    /// Under which id the event at a place was sent again after an edit, and what it was before.
    originals: BTreeMap<EventId, EventId>,
    /// For each event, which receipts are its own, as indices into what was received.
    receipts: BTreeMap<EventId, Vec<usize>>,
}

impl<'a> Case<'a> {
    fn new(history: &'a History, subscription: &'a SubscriptionHistory) -> Self {
        let mut receipts: BTreeMap<EventId, Vec<usize>> = BTreeMap::new();
        for (index, received) in subscription.received.iter().enumerate() {
            receipts.entry(received.id).or_default().push(index);
        }
        let edited = subscription.dead.iter().filter_map(|letter| Some((letter.new_id?, letter.id)));
        Self {
            history,
            subscription,
            committed: history.committed.iter().map(|event| (event.id, event)).collect(),
            originals: edited.collect(),
            receipts,
        }
    }

    /// The committed event behind an id, which may be the id of an edited one.
    fn event(&self, id: EventId) -> Option<&'a Committed> {
        let mut id = id;
        // An edited event may die and be edited again; ids are new each time, so that this ends.
        for _ in 0..=self.originals.len() {
            if let Some(event) = self.committed.get(&id) {
                return Some(event);
            }
            id = *self.originals.get(&id)?;
        }
        None
    }

    /// The events that this subscription is to deliver.
    fn wanted(&self) -> impl Iterator<Item = &'a Committed> {
        self.history.committed.iter().filter(|event| !self.subscription.unwanted.contains(&event.id))
    }

    fn receipts(&self, id: EventId) -> impl Iterator<Item = (usize, &'a Received)> {
        let indices = self.receipts.get(&id).map_or(&[][..], Vec::as_slice);
        indices.iter().map(|index| (*index, &self.subscription.received[*index]))
    }

    fn breach(&self, rule: Rule, text: impl Into<String>) -> Breach {
        Breach { rule, subscription: self.subscription.name.clone(), text: text.into() }
    }

    /// An event in a text.
    fn name(&self, id: EventId) -> String {
        match self.event(id) {
            Some(event) => match &event.key {
                Some(key) => format!("event {id} (position {}, key {key:?})", event.position),
                None => format!("event {id} (position {}, no key)", event.position),
            },
            None => format!("event {id}"),
        }
    }
}
