//! Rules 1, 2 and 6: everything committed arrives or is a dead letter, and nothing else arrives.

use posthaste_core::{DeadLetter, EventId};

use super::{Breach, Case, Committed, Rule};

impl Case<'_> {
    /// What was seen and should not have been: rolled back, never published, not wanted.
    pub(super) fn judge_strangers(&self) -> Vec<Breach> {
        let received = self.receipts.keys().map(|id| (*id, "received"));
        let dead = self.subscription.dead.iter().map(|letter| (letter.id, "a dead letter"));
        received.chain(dead).filter_map(|(id, what)| self.judge_stranger(id, what)).collect()
    }

    fn judge_stranger(&self, id: EventId, what: &str) -> Option<Breach> {
        if self.history.rolled_back.contains(&id) {
            let text = format!("{} was {what}, but its transaction was rolled back", self.name(id));
            return Some(self.breach(Rule::OnlyCommitted, text));
        }
        let Some(event) = self.event(id) else {
            let text = format!("{} was {what}, but nobody published it", self.name(id));
            return Some(self.breach(Rule::OnlyCommitted, text));
        };
        self.subscription.unwanted.contains(&event.id).then(|| {
            let text = format!("{} was {what}, but the filter or the start excludes it", self.name(id));
            self.breach(Rule::OnlyWanted, text)
        })
    }

    pub(super) fn judge_loss(&self) -> Vec<Breach> {
        let missing = self.wanted().filter(|event| !self.is_accounted_for(event));
        missing.filter_map(|event| self.judge_missing(event)).collect()
    }

    fn judge_missing(&self, event: &Committed) -> Option<Breach> {
        let cursor = self.subscription.cursors.get(&event.lane);
        let passed = cursor.is_some_and(|cursor| cursor.has_passed(event.position));
        let parked = self.subscription.parked.contains(&event.position);
        let rule = match (passed && !parked, self.subscription.finished) {
            (true, _) => Rule::NothingSkipped,
            (false, true) => Rule::NothingLeft,
            (false, false) => return None,
        };
        let stands = match (parked, cursor) {
            (true, _) => "is still parked".to_owned(),
            (false, Some(cursor)) => format!("is not parked; the cursor of its lane is at {}", cursor.after),
            (false, None) => "is not parked; the cursor of its lane is not known".to_owned(),
        };
        let text = format!("{} was never received, is no dead letter, and {stands}", self.name(event.id));
        Some(self.breach(rule, text))
    }

    /// Whether something tells what became of the event: a delivery, a dead letter, or why it still waits.
    fn is_accounted_for(&self, event: &Committed) -> bool {
        self.ids(event).any(|id| self.receipts.contains_key(&id))
            || self.letters(event).any(is_given_up)
            || self.waits_for_a_person(event)
    }

    /// A key may wait for ever behind a dead letter that holds it, but only in a place from which it can go on.
    fn waits_for_a_person(&self, event: &Committed) -> bool {
        let cursor = self.subscription.cursors.get(&event.lane);
        let ahead = cursor.is_some_and(|cursor| !cursor.has_passed(event.position));
        let holds =
            |letter: &DeadLetter| letter.holds && letter.resolution.is_none() && letter.key == event.key;
        (ahead || self.subscription.parked.contains(&event.position))
            && event.key.is_some()
            && self.subscription.dead.iter().any(|letter| holds(letter) && letter.position < event.position)
    }

    /// Dead letters that were sent again: each must have arrived since, wait, or have died again.
    pub(super) fn judge_replays(&self) -> Vec<Breach> {
        let again = self.subscription.dead.iter().filter(|letter| is_sent_again(letter));
        let lost = again.filter(|letter| !self.is_answered(letter));
        lost.map(|letter| {
            let text = format!(
                "dead letter {} with {} was {}, and neither arrived nor died since",
                letter.dead_id,
                self.name(letter.id),
                letter.resolution.as_deref().unwrap_or_default()
            );
            self.breach(Rule::NoReplayLost, text)
        })
        .collect()
    }

    fn is_answered(&self, letter: &DeadLetter) -> bool {
        let parked = !self.subscription.finished && self.subscription.parked.contains(&letter.position);
        let held = self.event(letter.id).is_some_and(|event| self.waits_for_a_person(event));
        parked || held || self.died_again(letter) || self.first_since(letter).is_some()
    }

    /// Where the event of a dead letter arrived for the first time after it was sent again.
    pub(super) fn first_since(&self, letter: &DeadLetter) -> Option<usize> {
        let since = letter.resolved_at?;
        let mut receipts = self.receipts(letter.new_id.unwrap_or(letter.id));
        receipts.find(|(_, received)| received.at >= since).map(|(index, _)| index)
    }

    pub(super) fn died_again(&self, letter: &DeadLetter) -> bool {
        let dead = &self.subscription.dead;
        dead.iter().any(|other| other.position == letter.position && other.dead_id > letter.dead_id)
    }

    /// The ids under which an event may arrive: its own, and those it was given by edits.
    fn ids<'b>(&'b self, event: &'b Committed) -> impl Iterator<Item = EventId> + 'b {
        let edited = self.letters(event).filter_map(|letter| letter.new_id);
        std::iter::once(event.id).chain(edited)
    }

    /// The dead letters at the place of an event.
    pub(super) fn letters<'b>(&'b self, event: &'b Committed) -> impl Iterator<Item = &'b DeadLetter> + 'b {
        self.subscription.dead.iter().filter(|letter| letter.position == event.position)
    }
}

/// Whether a dead letter is an end: nobody has done anything about it, or somebody gave it up for good.
fn is_given_up(letter: &DeadLetter) -> bool {
    matches!(letter.resolution.as_deref(), None | Some("discarded"))
}

pub(super) fn is_sent_again(letter: &DeadLetter) -> bool {
    matches!(letter.resolution.as_deref(), Some("replayed" | "edited"))
}
