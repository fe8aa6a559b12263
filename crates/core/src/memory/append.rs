//! Appending lines, each with all its changes or not at all.

use super::{MemoryStore, chain::Link, journal::JournalRow};
use crate::{Act, Appended, Buried, Change, Lane, Parked, Position, RelayId, Timestamp, cut_error};

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
                let before = row.parked.remove(*position);
                if let Some(failed) = before.filter(|before| before.last_error.is_some()) {
                    self.journal.write(writing.journal(*position, "delivered", Some(failed.attempts + 1)));
                }
            }
            Change::Bury(buried) => {
                row.parked.remove(buried.position);
                self.dead.bury(writing.subscription, writing.lane, buried, writing.now);
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

    fn journal(&self, position: Position, what: &'static str, attempt: Option<u32>) -> JournalRow {
        JournalRow {
            at: self.now,
            subscription: Some(self.subscription.to_owned()),
            position: Some(position),
            what,
            attempt,
            detail: None,
            by: self.relay.0.clone(),
        }
    }
}
