//! Appending lines, each with all its changes or not at all.

use std::sync::Arc;

use super::{MemoryStore, chain::Link, dead::DeadRow, journal::JournalRow};
use crate::{
    Act, Appended, Buried, Change, Error, ErrorKind, Lane, Parked, Position, RelayId, Timestamp, cut_error,
};

impl MemoryStore {
    /// Appends one line for each act, with its changes. An act whose number is taken by somebody else changes nothing;
    /// one that this relay had appended before answers `Done` again.
    pub fn append(
        &mut self,
        now: Timestamp,
        subscription: &str,
        relay: &RelayId,
        acts: &[Act],
    ) -> Vec<Appended> {
        acts.iter()
            .map(|act| self.append_one(&Writing { now, subscription, relay, lane: act.lane }, act))
            .collect()
    }

    /// Why these acts cannot be appended, if they cannot: then nothing of them is.
    pub(super) fn refusal(&self, acts: &[Act]) -> Option<Error> {
        let buries = |act: &Act| act.changes.iter().any(|change| matches!(change, Change::Bury(_)));
        let refused = self.refuses_dead && acts.iter().any(buries);
        refused.then(|| Error::new(ErrorKind::Refused, "append: no dead letter is taken"))
    }

    fn append_one(&mut self, writing: &Writing<'_>, act: &Act) -> Appended {
        let row = self.subscriptions.get_mut(writing.subscription);
        let Some(chain) = row.and_then(|row| row.chains.get_mut(usize::from(act.lane.0))) else {
            return Appended::Fenced;
        };
        match chain.link(writing.relay, act, writing.now) {
            Link::Fenced => Appended::Fenced,
            Link::Repeated => Appended::Done,
            Link::Added => {
                for change in &act.changes {
                    self.change(writing, change);
                }
                Appended::Done
            }
        }
    }

    fn change(&mut self, writing: &Writing<'_>, change: &Change) {
        let Some(row) = self.subscriptions.get_mut(writing.subscription) else { return };
        match change {
            Change::Park(parked) => {
                row.parked.park(writing.lane, parked, writing.now);
                if parked.error.is_some() {
                    self.journal.write(writing.failed(parked));
                }
            }
            Change::Unpark(position) => {
                if let Some(before) = row.parked.remove(*position) {
                    self.journal.write(writing.journal(*position, "delivered", Some(before.attempts + 1)));
                }
            }
            Change::Bury(buried) => {
                // A copy of what is stored, not of what was yielded: that may be less.
                let parked = row.parked.remove(buried.position).map(|row| (row.event, row.defect));
                let logged =
                    || self.log.get(buried.position).map(|row| (row.event.clone(), row.defect.clone()));
                let mut letter = writing.letter(buried);
                if let Some((event, defect)) = parked.or_else(logged) {
                    (letter.event, letter.defect) = (event, defect);
                }
                self.dead.bury(letter);
                self.journal.write(writing.dead(buried));
            }
        }
    }
}

/// Who writes, where and when.
struct Writing<'a> {
    now: Timestamp,
    subscription: &'a str,
    relay: &'a RelayId,
    lane: Lane,
}

impl Writing<'_> {
    fn failed(&self, parked: &Parked) -> JournalRow {
        let detail = parked.error.as_deref().map(|error| cut_error(error).to_owned());
        JournalRow { detail, ..self.journal(parked.position, "failed", Some(parked.attempts)) }
    }

    fn dead(&self, buried: &Buried) -> JournalRow {
        let detail = format!("{}: {}", buried.reason, cut_error(&buried.error));
        JournalRow { detail: Some(detail), ..self.journal(buried.position, "dead", Some(buried.attempts)) }
    }

    /// The dead letter with the event as it was yielded.
    fn letter(&self, buried: &Buried) -> DeadRow {
        DeadRow {
            subscription: self.subscription.to_owned(),
            position: buried.position,
            lane: self.lane,
            event: Arc::new(buried.event.clone()),
            defect: None,
            reason: buried.reason,
            error: cut_error(&buried.error).to_owned(),
            attempts: buried.attempts,
            holds: buried.holds,
            moved_at: self.now,
            resolved: None,
            new_id: None,
        }
    }

    fn journal(&self, position: Position, what: &'static str, attempt: Option<u32>) -> JournalRow {
        JournalRow {
            at: self.now,
            subscription: Some(self.subscription.to_owned()),
            position: Some(position),
            what,
            attempt,
            detail: None,
            by: self.relay.0.clone(),
            concerned: None,
        }
    }
}
