//! Rule 5: order within a key, what is exempt from it, and times that have to be waited for.

use std::collections::{BTreeMap, BTreeSet};

use posthaste_core::{DeadLetter, EventId, Order, Position, Timestamp};

use super::{Breach, Case, Committed, Rule, loss::is_sent_again};

impl Case<'_> {
    /// First deliveries of a key are in log order. Delayed events take their place when they are due, and dead letters
    /// that are sent again are late by definition.
    pub(super) fn judge_order(&self) -> Vec<Breach> {
        let mut latest: BTreeMap<&str, (Position, EventId)> = BTreeMap::new();
        let mut breaches = Vec::new();
        for (event, key) in self.first_deliveries() {
            let before = latest.entry(key).or_insert((Position(0), event.id));
            if event.position < before.0 && !self.is_late(event) {
                let text = format!(
                    "key {key:?}: {} came for the first time after {}; expected was the order of the log",
                    self.name(event.id),
                    self.name(before.1)
                );
                breaches.push(self.breach(Rule::KeyOrder, text));
            }
            // What an operator moved goes before what is not yet sent, so that nothing can be late because of it.
            if !self.subscription.late.contains(&event.id) {
                *before = (*before).max((event.position, event.id));
            }
        }
        breaches
    }

    /// Each keyed event once, in the order of first deliveries; none where there is no order to keep.
    fn first_deliveries(&self) -> impl Iterator<Item = (&Committed, &str)> {
        let mut seen = BTreeSet::new();
        let ordered = self.subscription.order == Order::Key;
        let received = self.subscription.received.iter().filter(move |_| ordered);
        received.filter_map(move |received| {
            let event = self.event(received.id).filter(|event| seen.insert(event.id))?;
            Some((event, event.key.as_deref()?))
        })
    }

    fn is_late(&self, event: &Committed) -> bool {
        event.deliver_after.is_some()
            || self.subscription.late.contains(&event.id)
            || self.letters(event).next().is_some()
    }

    /// What was sent again by one act keeps its order within a key, unless it died again on the way.
    pub(super) fn judge_replay_order(&self) -> Vec<Breach> {
        if self.subscription.order == Order::None {
            return Vec::new();
        }
        let mut acts: BTreeMap<(Option<Timestamp>, &str), Vec<&DeadLetter>> = BTreeMap::new();
        for letter in self.subscription.dead.iter().filter(|letter| is_sent_again(letter)) {
            if let Some(key) = letter.key.as_deref().filter(|_| !self.died_again(letter)) {
                acts.entry((letter.resolved_at, key)).or_default().push(letter);
            }
        }
        acts.into_iter().flat_map(|((_, key), letters)| self.judge_act(key, letters)).collect()
    }

    fn judge_act(&self, key: &str, mut letters: Vec<&DeadLetter>) -> Vec<Breach> {
        letters.sort_by_key(|letter| letter.position);
        let came = letters.iter().filter_map(|letter| Some((*letter, self.first_since(letter)?)));
        let came: Vec<(&DeadLetter, usize)> = came.collect();
        let wrong = came.windows(2).filter(|pair| pair[0].1 > pair[1].1);
        wrong
            .map(|pair| {
                let (first, second) = (self.name(pair[0].0.id), self.name(pair[1].0.id));
                let text =
                    format!("key {key:?}: {second} was sent again together with {first}, and came before it");
                self.breach(Rule::ReplayOrder, text)
            })
            .collect()
    }

    pub(super) fn judge_due_times(&self) -> Vec<Breach> {
        let early = self.subscription.received.iter().filter_map(|received| {
            let due_at = self.event(received.id)?.deliver_after?;
            (received.at < due_at).then(|| {
                let early_by = due_at.since(received.at);
                let text = format!("{} came {early_by:?} before it was due", self.name(received.id));
                self.breach(Rule::NotBeforeItsTime, text)
            })
        });
        early.collect()
    }

    /// While a dead letter holds its key, nothing behind it comes for the first time.
    pub(super) fn judge_held_keys(&self) -> Vec<Breach> {
        let holding = self.subscription.dead.iter().filter(|letter| letter.holds && letter.key.is_some());
        holding.flat_map(|letter| self.judge_held_key(letter)).collect()
    }

    fn judge_held_key(&self, letter: &DeadLetter) -> Vec<Breach> {
        let held = |at: Timestamp| letter.moved_at < at && letter.resolved_at.is_none_or(|until| at < until);
        let behind =
            self.wanted().filter(|event| event.key == letter.key && event.position > letter.position);
        let passed = behind
            .filter(|event| self.receipts(event.id).next().is_some_and(|(_, received)| held(received.at)));
        passed
            .map(|event| {
                let text = format!(
                    "{} came while dead letter {} with {} held its key",
                    self.name(event.id),
                    letter.dead_id,
                    self.name(letter.id)
                );
                self.breach(Rule::HeldKey, text)
            })
            .collect()
    }
}
