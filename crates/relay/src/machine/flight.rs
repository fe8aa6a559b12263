//! What is under way in one lane: from the first send of a batch until its settlement is written.
//!
//! A flight collects the outcomes of its entries. An entry without an outcome stays pending and is sent again; once
//! none is left, the flight can be settled, as one line.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    time::Duration,
};

use fastrand::Rng;
use posthaste_core::{
    Buried, Change, Cursor, Delivery, Due, Entry, Fault, FaultKind, OnDead, Order, Origin, Outcome, Parked,
    Position, Subscription,
};

use super::{Sent, circuit::Circuit, lane::Batch, note::Note};
use crate::Moment;

/// How long to wait after a sink sent nothing without saying why.
const REST: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub(super) struct Flight {
    /// From where its entries were read. Parked entries never share a flight with those of the log.
    pub(super) origin: Origin,
    /// The lane's cursor once everything in here has an outcome.
    pub(super) end: Cursor,
    /// How many entries it has had, and their bytes.
    pub(super) size: usize,
    bytes: usize,
    /// When the first outcome came, which waits for its settlement since.
    pub(super) since: Option<Moment>,
    pub(super) delivered: u32,
    pub(super) changes: Vec<Change>,
    /// Entries without an outcome that are not on the wire, in order.
    pending: Vec<Entry>,
    /// Entries are on the wire.
    sending: Option<Sending>,
    /// The sink sent nothing and named no fault: it is not asked again before.
    rests_until: Option<Moment>,
    /// Keys of which nothing more may be sent in this flight.
    halted: HashSet<String>,
    /// Entries that the destination could not take because it was down, with the epoch in which it first said so.
    suspects: HashMap<Position, u64>,
}

#[derive(Clone, Copy, Debug)]
struct Sending {
    since: Moment,
    /// In this epoch of the circuit.
    epoch: u64,
    /// What the destination had proved by then.
    proved: Option<u64>,
}

/// What a flight needs to know, and whom it tells, when outcomes are decided.
pub(super) struct Desk<'a> {
    pub(super) subscription: &'a Subscription,
    pub(super) circuit: &'a mut Circuit,
    pub(super) rng: &'a mut Rng,
    pub(super) notes: &'a mut Vec<Note>,
    pub(super) now: Moment,
}

impl Flight {
    pub(super) fn new(origin: Origin, start: Cursor) -> Self {
        Self {
            origin,
            end: start,
            size: 0,
            bytes: 0,
            since: None,
            delivered: 0,
            changes: Vec::new(),
            pending: Vec::new(),
            sending: None,
            rests_until: None,
            halted: HashSet::new(),
            suspects: HashMap::new(),
        }
    }

    /// Takes entries in. Those that are not to be sent get their outcome at once.
    pub(super) fn admit(&mut self, batch: Batch, hot: &mut BTreeSet<Position>, desk: &mut Desk<'_>) {
        let Batch { entries, end, bytes } = batch;
        self.end = end;
        self.size += entries.len();
        self.bytes += bytes;
        let plain = |entry: &Entry| entry.defect.is_none() && !entry.blocked && !entry.delayed;
        if self.pending.is_empty() && self.halted.is_empty() && hot.is_empty() && entries.iter().all(plain) {
            self.pending = entries;
            return;
        }
        for entry in entries {
            self.admit_one(entry, hot, desk);
        }
    }

    fn admit_one(&mut self, entry: Entry, hot: &mut BTreeSet<Position>, desk: &mut Desk<'_>) {
        let from_log = entry.origin == Origin::Log;
        let waits = entry.blocked && from_log && desk.subscription.order == Order::Key;
        if hot.remove(&entry.position) {
            self.delivered += 1;
            desk.notes.push(Note::PassedHot(1));
        } else if let Some(defect) = &entry.defect {
            let fault = Fault::poison(defect.clone());
            self.judge(entry, &fault, Duration::ZERO, desk);
        } else if entry.delayed && from_log {
            let due = Due::Delayed(entry.event.deliver_after.unwrap_or_default());
            self.changes.push(park(entry, due));
        } else if waits || self.is_halted(&entry) {
            self.halt(&entry, desk.subscription);
            self.park_behind(entry);
        } else {
            self.pending.push(entry);
            return;
        }
        self.since.get_or_insert(desk.now);
    }

    /// The entries to send next, so many at most; they are on the wire from here on. A sink that does not keep the order of a key
    /// in a batch gets one of each key.
    pub(super) fn send(
        &mut self,
        room: usize,
        keeps_key_order: bool,
        circuit: &Circuit,
        now: Moment,
    ) -> Vec<Entry> {
        self.sending = Some(Sending { since: now, epoch: circuit.epoch(), proved: circuit.proved() });
        let mut later = if room < self.pending.len() { self.pending.split_off(room) } else { Vec::new() };
        let mut sent = std::mem::take(&mut self.pending);
        if !keeps_key_order {
            let mut keys = HashSet::new();
            let first = |entry: &Entry| entry.event.key.as_ref().is_none_or(|key| keys.insert(key.clone()));
            let (now, behind): (Vec<Entry>, Vec<Entry>) = sent.into_iter().partition(first);
            later.splice(..0, behind);
            sent = now;
        }
        self.pending = later;
        sent
    }

    /// Gives each entry that came back its outcome, or makes it pending again.
    pub(super) fn resolve(&mut self, sent: Sent, desk: &mut Desk<'_>) {
        let Some(sending) = self.sending.take() else { return };
        let delivered_before = self.delivered;
        let mut again = Vec::new();
        let mut idle = true;
        // A sink that answers for fewer entries than it was given has not sent the others.
        let deliveries = sent.deliveries.into_iter().chain(std::iter::repeat(Delivery::NotSent));
        for (entry, delivery) in sent.entries.into_iter().zip(deliveries) {
            idle &= delivery == Delivery::NotSent;
            match delivery {
                Delivery::Delivered => self.deliver(&entry),
                Delivery::NotSent => again.push(entry),
                Delivery::Failed(fault) => {
                    let fault = self.blame(fault, &entry, sending, desk.circuit);
                    again.extend(self.judge(entry, &fault, sent.took, desk));
                }
            }
        }
        desk.circuit.delivered(u64::from(self.delivered - delivered_before), sending.epoch);
        self.rests_until = idle.then(|| desk.now + REST);
        again.append(&mut self.pending);
        self.pending = again;
        self.park_halted();
        if self.delivered > 0 || !self.changes.is_empty() {
            self.since.get_or_insert(desk.now);
        }
    }

    fn deliver(&mut self, entry: &Entry) {
        self.delivered += 1;
        if entry.origin == Origin::Parked {
            self.changes.push(Change::Unpark(entry.position));
        }
    }

    /// The destination being down is nobody's fault; but if it refused this very entry before, has taken others since,
    /// and refuses it again, the entry is to blame. Each came after the other: what was delivered was sent after the
    /// first refusal, and was known before this send, so that no single outage can put the blame on anybody.
    fn blame(&mut self, mut fault: Fault, entry: &Entry, sending: Sending, circuit: &Circuit) -> Fault {
        if fault.kind == FaultKind::Unavailable {
            let first = *self.suspects.entry(entry.position).or_insert(circuit.epoch());
            if sending.proved.is_some_and(|proved| proved > first) {
                fault.kind = FaultKind::Transient;
            }
        }
        fault
    }

    /// Records what the policy makes of a fault; gives the entry back if that is nothing.
    fn judge(&mut self, entry: Entry, fault: &Fault, took: Duration, desk: &mut Desk<'_>) -> Option<Entry> {
        let policy = desk.subscription.retry.with(&entry.event.retry);
        match policy.decide(entry.attempts, fault, desk.rng.f64()) {
            Outcome::Delivered => self.deliver(&entry),
            Outcome::Undecided { retry_after } => {
                self.wait(fault, retry_after, desk);
                return Some(entry);
            }
            Outcome::Parked { attempts, due_in } => {
                self.halt(&entry, desk.subscription);
                desk.notes.push(Note::Failed {
                    id: entry.event.id,
                    position: entry.position,
                    attempts,
                    due_in,
                    kind: fault.kind,
                    reason: fault.reason,
                    error: fault.message.clone(),
                });
                self.changes.push(Change::Park(Box::new(Parked {
                    position: entry.position,
                    event: entry.event,
                    attempts,
                    due: Due::In(due_in),
                    error: Some(fault.message.clone()),
                    took,
                })));
            }
            Outcome::Dead { attempts, reason } => {
                self.halt(&entry, desk.subscription);
                desk.notes.push(Note::Died {
                    id: entry.event.id,
                    position: entry.position,
                    attempts,
                    reason,
                    error: fault.message.clone(),
                });
                let holds = desk.subscription.on_dead == OnDead::Hold
                    && desk.subscription.order == Order::Key
                    && entry.event.key.is_some();
                self.changes.push(Change::Bury(Box::new(Buried {
                    position: entry.position,
                    event: entry.event,
                    attempts,
                    reason,
                    error: fault.message.clone(),
                    holds,
                    took,
                })));
            }
        }
        None
    }

    fn wait(&self, fault: &Fault, retry_after: Option<Duration>, desk: &mut Desk<'_>) {
        match retry_after {
            Some(wait) => {
                if desk.circuit.throttle(desk.now, wait) {
                    desk.notes.push(Note::Throttled { wait });
                }
            }
            None => {
                if desk.circuit.open(desk.now) {
                    desk.notes.push(Note::CircuitOpened { error: fault.message.clone() });
                }
            }
        }
    }

    fn halt(&mut self, entry: &Entry, subscription: &Subscription) {
        if subscription.order == Order::Key
            && let Some(key) = &entry.event.key
        {
            self.halted.insert(key.clone());
        }
    }

    fn is_halted(&self, entry: &Entry) -> bool {
        !self.halted.is_empty() && entry.event.key.as_ref().is_some_and(|key| self.halted.contains(key))
    }

    /// Parks what is behind a fault of its key, in the same settlement, so that a crash cannot turn the order round.
    fn park_halted(&mut self) {
        if self.halted.is_empty() {
            return;
        }
        let (behind, pending) =
            std::mem::take(&mut self.pending).into_iter().partition(|entry| self.is_halted(entry));
        self.pending = pending;
        let behind: Vec<Entry> = behind;
        for entry in behind {
            self.park_behind(entry);
        }
    }

    fn park_behind(&mut self, entry: Entry) {
        // One that is parked already stays as it is.
        if entry.origin == Origin::Log {
            self.changes.push(park(entry, Due::In(Duration::ZERO)));
        }
    }

    /// Gives up sending, so that the lane can be given back: what has no outcome is parked for the next holder, or the
    /// whole flight is forgotten if nothing in it has one.
    pub(super) fn abandon(mut self) -> Option<Flight> {
        if self.delivered == 0 && self.changes.is_empty() {
            return None;
        }
        for entry in std::mem::take(&mut self.pending) {
            self.park_behind(entry);
        }
        Some(self)
    }

    pub(super) fn is_sending(&self) -> bool {
        self.sending.is_some()
    }

    /// Since when entries are on the wire.
    pub(super) fn sending_since(&self) -> Option<Moment> {
        self.sending.map(|sending| sending.since)
    }

    /// Whether there is something to send now.
    pub(super) fn has_pending(&self, now: Moment) -> bool {
        !self.pending.is_empty()
            && self.sending.is_none()
            && self.rests_until.is_none_or(|until| until <= now)
    }

    /// When it is to be sent again.
    pub(super) fn rests_until(&self) -> Option<Moment> {
        self.rests_until.filter(|_| self.sending.is_none())
    }

    /// Whether every entry has its outcome.
    pub(super) fn is_done(&self) -> bool {
        self.pending.is_empty() && self.sending.is_none()
    }

    /// Entries and bytes that it keeps in memory: all it has had, as long as one has no outcome or is to be parked.
    pub(super) fn load(&self) -> (usize, usize) {
        if self.is_done() && self.is_clean() { (0, 0) } else { (self.size, self.bytes) }
    }

    /// Whether all of it was delivered, straight from the log: then it can take more in before it is settled.
    pub(super) fn is_clean(&self) -> bool {
        self.changes.is_empty() && self.halted.is_empty() && self.origin == Origin::Log
    }
}

fn park(entry: Entry, due: Due) -> Change {
    Change::Park(Box::new(Parked {
        position: entry.position,
        event: entry.event,
        attempts: entry.attempts,
        due,
        error: None,
        took: Duration::ZERO,
    }))
}
