//! Judges what happened in a world: writes it down as a [`History`] and has that checked by the rules of the design.

use std::fmt;

use posthaste_core::{OnDead, Order, Timestamp};

use super::{
    Run,
    world::{Committed, World},
};
use crate::history::{self, History, SubscriptionHistory};

/// A rule that was broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    /// Which one, in words.
    pub rule: String,
    /// Where and how.
    pub detail: String,
}

impl Breach {
    pub(super) fn new(rule: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { rule: rule.into(), detail: detail.into() }
    }
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.rule, self.detail)
    }
}

/// A schedule that broke a rule before it was over.
pub(super) fn cut_short(seed: u64, world: World) -> Run {
    Run { seed, steps: world.steps, breaches: world.breaches, ..Run::default() }
}

pub(super) fn judge(seed: u64, world: &World, quiet: bool) -> Run {
    let mut breaches = world.breaches.clone();
    if !quiet {
        breaches
            .push(Breach::new("stuck", format!("{:?}", world.store.status(world.db_now()).subscriptions)));
    }
    let history = History {
        committed: world.committed.iter().map(|event| committed(world, event)).collect(),
        rolled_back: world.rolled_back.iter().copied().collect(),
        subscriptions: (0..world.subscriptions.len())
            .map(|index| subscription(world, index, quiet))
            .collect(),
    };
    let report = history::check(&history);
    breaches.extend(report.breaches.iter().map(|breach| {
        Breach::new(format!("{:?}", breach.rule), format!("{} in {}", breach.text, breach.subscription))
    }));
    breaches.extend(
        history.subscriptions.iter().filter_map(|subscription| garbled_and_sent(world, subscription)),
    );
    Run {
        seed,
        breaches,
        events: world.committed.len() as u64,
        deliveries: report.counts.iter().map(|counts| counts.received).sum(),
        repeats: report.counts.iter().map(|counts| counts.repeats).sum(),
        crashes: world.crashes,
        steps: world.steps,
    }
}

fn committed(world: &World, event: &Committed) -> history::Committed {
    history::Committed {
        id: event.id,
        position: event.position,
        lane: event.lane,
        key: event.key.clone(),
        // After a jump of the log's clock nobody can say when it was due.
        deliver_after: event.deliver_after.filter(|_| world.clock_jumps == 0),
    }
}

fn subscription(world: &World, index: usize, quiet: bool) -> SubscriptionHistory {
    let (subscription, _) = &world.subscriptions[index];
    let sink = &world.sinks[index];
    let mut own_failures = sink.own_failures.clone();
    for garbled in world.committed.iter().filter(|event| event.garbled) {
        *own_failures.entry(garbled.id).or_default() += 1;
    }
    let mut history = SubscriptionHistory {
        order: subscription.order,
        late: world.reset_late.iter().filter(|(at, _)| *at == index).map(|(_, id)| *id).collect(),
        received: sink.received.clone(),
        // With several outages an event may be blamed for coming in between.
        own_failures: (sink.outages <= 1).then_some(own_failures),
        // What was received although the sink said that it did not know comes a second time, as it must.
        repeats_allowed: (world.troubles == 0).then_some(sink.unsure),
        finished: quiet,
        ..history::of_store(&world.store, &subscription.name)
    };
    // Whether a key should have waited is said by the policy, not by what the engine wrote.
    let holds = subscription.on_dead == OnDead::Hold && subscription.order == Order::Key;
    for letter in &mut history.dead {
        letter.holds = holds && letter.key.is_some();
    }
    excuse_what_was_before(world, index, &mut history);
    if world.clock_jumps > 0 {
        forget_times(world, &mut history);
    }
    history
}

/// What was there before the start is not wanted; after a reset to the beginning it may come, late.
fn excuse_what_was_before(world: &World, index: usize, history: &mut SubscriptionHistory) {
    let before =
        world.committed.iter().filter(|event| event.position <= world.starts[index]).map(|event| event.id);
    for id in before {
        let came = history.received.iter().any(|received| received.id == id)
            || history.dead.iter().any(|letter| letter.id == id);
        if came && world.resets[index] > 0 {
            history.late.insert(id);
        } else {
            history.unwanted.insert(id);
        }
    }
}

/// After a jump of the log's clock its times and those of the sinks cannot be compared.
fn forget_times(world: &World, history: &mut SubscriptionHistory) {
    history
        .late
        .extend(world.committed.iter().filter(|event| event.deliver_after.is_some()).map(|event| event.id));
    for received in &mut history.received {
        received.relay = None;
    }
    for letter in &mut history.dead {
        letter.holds = false;
        // Before everything, and each at a time of its own.
        letter.resolved_at = letter.resolved_at.map(|_| Timestamp(i64::MIN + letter.dead_id));
    }
}

/// A row that cannot be understood is a dead letter, and never sent, unless a person wants it to be.
fn garbled_and_sent(world: &World, subscription: &SubscriptionHistory) -> Option<Breach> {
    let replayed = |id| subscription.dead.iter().any(|letter| letter.id == id && letter.resolution.is_some());
    let garbled = |id| world.committed.iter().any(|event| event.garbled && event.id == id && !replayed(id));
    let sent = subscription.received.iter().find(|received| garbled(received.id))?;
    Some(Breach::new("a row that cannot be understood was sent", format!("{}", sent.id)))
}
