//! Judges what happened in a world by the rules of the design.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    fmt,
};

use posthaste_core::{
    ActKind, Cursor, DeadFilter, DeadLetter, EventId, Lane, OnDead, Order, Position, Timestamp,
};

use super::{
    Run,
    sink::{Ill, Receipt, SimSink},
    world::{Committed, World, db_time},
};

/// A rule that was broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    /// Which one, in words.
    pub rule: &'static str,
    /// Where and how.
    pub detail: String,
}

impl Breach {
    pub(super) fn new(rule: &'static str, detail: impl Into<String>) -> Self {
        Self { rule, detail: detail.into() }
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
    let mut run =
        Run { seed, events: world.committed.len() as u64, crashes: world.crashes, ..Run::default() };
    run.steps = world.steps;
    if !quiet {
        breaches
            .push(Breach::new("stuck", format!("{:?}", world.store.status(world.db_now()).subscriptions)));
    }
    for index in 0..world.subscriptions.len() {
        let case = Case::new(world, index);
        case.judge_loss(&mut breaches);
        case.judge_order(&mut breaches);
        case.judge_held_keys(&mut breaches);
        case.judge_attempts(&mut breaches);
        case.judge_lines(&mut breaches);
        let firsts: HashSet<EventId> = case.sink.received.iter().map(|receipt| receipt.id).collect();
        let repeats = (case.sink.received.len() - firsts.len()) as u64;
        case.judge_repeats(repeats, &mut breaches);
        run.deliveries += case.sink.received.len() as u64;
        run.repeats += repeats;
    }
    run.breaches = breaches;
    run
}

/// One subscription of a world, after the fact.
struct Case<'a> {
    world: &'a World,
    index: usize,
    name: &'a str,
    sink: &'a SimSink,
    committed: HashMap<EventId, &'a Committed>,
    dead: HashSet<EventId>,
    letters: Vec<DeadLetter>,
}

impl<'a> Case<'a> {
    fn new(world: &'a World, index: usize) -> Self {
        let name = world.subscriptions[index].0.name.as_str();
        let mut letters = Vec::new();
        let mut filter = DeadFilter {
            subscription: Some(name.to_owned()),
            resolved: true,
            limit: 1_000,
            ..DeadFilter::default()
        };
        loop {
            let page = world.store.dead(&filter);
            letters.extend(page.items);
            filter.cursor = page.next;
            if filter.cursor.is_none() {
                break;
            }
        }
        let committed = world.committed.iter().map(|event| (event.id, event)).collect();
        let dead = letters.iter().map(|letter| letter.id).collect();
        Self { world, index, name, sink: &world.sinks[index], committed, dead, letters }
    }

    /// Rules 1, 2 and 6: everything committed arrives or is a dead letter, and nothing else does.
    fn judge_loss(&self, breaches: &mut Vec<Breach>) {
        let received: HashSet<EventId> = self.sink.received.iter().map(|receipt| receipt.id).collect();
        for event in self.committed.values().filter(|event| event.position > self.world.starts[self.index]) {
            if !received.contains(&event.id) && !self.dead.contains(&event.id) {
                breaches.push(Breach::new(
                    "lost",
                    format!("{} at {} in {}", event.id, event.position, self.name),
                ));
            }
            if event.garbled && received.contains(&event.id) && !self.was_replayed(event) {
                breaches.push(Breach::new(
                    "a row that cannot be understood was sent",
                    format!("{}", event.position),
                ));
            }
        }
        for receipt in &self.sink.received {
            let known = self.committed.get(&receipt.id);
            if self.world.rolled_back.contains(&receipt.id) || known.is_none() {
                breaches.push(Breach::new(
                    "delivered without a commit",
                    format!("{} in {}", receipt.id, self.name),
                ));
            }
            if known.is_some_and(|event| event.position <= self.world.starts[self.index])
                && self.world.resets == 0
            {
                breaches.push(Breach::new(
                    "delivered from before the start",
                    format!("{} in {}", receipt.id, self.name),
                ));
            }
        }
    }

    fn was_replayed(&self, event: &Committed) -> bool {
        self.world.replayed.contains(&(self.index, event.id))
    }

    /// Rule 5: within a key, first deliveries are in log order. Delayed and replayed events are late by definition.
    fn judge_order(&self, breaches: &mut Vec<Breach>) {
        if self.world.subscriptions[self.index].0.order == Order::None {
            return;
        }
        let mut seen = HashSet::new();
        let mut last: BTreeMap<&str, Position> = BTreeMap::new();
        for receipt in &self.sink.received {
            let Some(event) = self.committed.get(&receipt.id) else { continue };
            let Some(key) = event.key.as_deref().filter(|_| seen.insert(receipt.id)) else { continue };
            let before = last.entry(key).or_default();
            let late =
                event.delayed || self.was_replayed(event) || event.position <= self.world.starts[self.index];
            if event.position < *before && !late {
                let detail = format!(
                    "key {key}: {} after {before} in {}, relay {} at {:?}",
                    event.position, self.name, receipt.relay, receipt.at
                );
                breaches.push(Breach::new("out of order", detail));
            }
            *before = (*before).max(event.position);
        }
    }

    /// A key whose head died under `hold` waits until a person has looked at it, whoever holds the lane.
    fn judge_held_keys(&self, breaches: &mut Vec<Breach>) {
        let subscription = &self.world.subscriptions[self.index].0;
        let holds = subscription.on_dead == OnDead::Hold && subscription.order == Order::Key;
        // After a jump the times of the log and of the sinks cannot be compared.
        if !holds || self.world.clock_jumps > 0 {
            return;
        }
        for letter in self.letters.iter().filter(|letter| letter.key.is_some()) {
            let until = letter.resolved_at.unwrap_or(Timestamp(i64::MAX));
            let passed = self.sink.received.iter().find(|receipt| {
                let at = db_time(receipt.at);
                let event = self.committed.get(&receipt.id);
                let follows =
                    event.is_some_and(|event| event.key == letter.key && event.position > letter.position);
                follows && letter.moved_at < at && at < until && !self.was_received_before(receipt)
            });
            if let Some(receipt) = passed {
                let detail = format!("{} went although {} is held, in {}", receipt.id, letter.id, self.name);
                breaches.push(Breach::new("a held key went on", detail));
            }
        }
    }

    fn was_received_before(&self, receipt: &Receipt) -> bool {
        self.sink.received.iter().any(|other| other.id == receipt.id && other.at < receipt.at)
    }

    /// Rule 7: only an event's own failures count. With several outages one may be blamed for coming in between.
    fn judge_attempts(&self, breaches: &mut Vec<Breach>) {
        for event in self.committed.values().filter(|event| !event.garbled) {
            let own = self.sink.own_failures.get(&event.id).copied().unwrap_or(0);
            if own == 0 && self.dead.contains(&event.id) {
                breaches.push(Breach::new(
                    "died without a failure of its own",
                    format!("{} in {}", event.position, self.name),
                ));
            }
            let Ok(timeline) = self.world.store.show(self.world.db_now(), event.id) else { continue };
            let mine = timeline.items.iter().filter(|item| item.subscription.as_deref() == Some(self.name));
            let counted = mine.filter(|item| matches!(item.what.as_str(), "failed" | "dead")).count();
            if counted as u32 > own && self.sink.outages <= 1 {
                let detail = format!("{} has {counted} for {own} failures in {}", event.position, self.name);
                breaches.push(Breach::new("an outage counted as an attempt", detail));
            }
        }
    }

    /// Rule 4: a lane's lines are a chain, and only an operator moves the cursor back.
    fn judge_lines(&self, breaches: &mut Vec<Breach>) {
        for lane in (0..self.world.store.capabilities().lanes).map(Lane) {
            let mut last: Option<(i64, Cursor)> = None;
            for line in self.world.store.lines(self.name, lane) {
                if let Some((n, cursor)) = last {
                    if line.n != n + 1 {
                        breaches.push(Breach::new(
                            "a gap in the lines",
                            format!("{n} and {} of lane {lane}", line.n),
                        ));
                    }
                    if line.cursor < cursor && line.kind != ActKind::Reset {
                        breaches.push(Breach::new(
                            "the cursor went back",
                            format!("line {} of lane {lane}", line.n),
                        ));
                    }
                }
                last = Some((line.n, line.cursor));
            }
        }
    }

    /// Rule 6: what is in flight at a crash may be repeated, and nothing else.
    fn judge_repeats(&self, repeats: u64, breaches: &mut Vec<Breach>) {
        let unsure: u64 =
            self.sink.ills.values().filter(|ill| matches!(ill, Ill::Unsure(_))).count() as u64 * 2;
        let quiet_world = self.world.troubles == 0;
        if quiet_world && self.world.replayed.is_empty() && repeats > unsure {
            breaches
                .push(Breach::new("repeated without need", format!("{repeats} repeats in {}", self.name)));
        }
    }
}
