//! One held lane: what has been read of it, what is under way, and how far it is settled.

use std::collections::{BTreeSet, VecDeque};

use posthaste_core::{Act, ActKind, Change, Cursor, Entry, Lane, LaneCensus, Origin, Position};

use super::{
    flight::{Desk, Flight},
    reading::Reach,
};
use crate::Moment;

#[derive(Debug)]
pub(super) struct HeldLane {
    pub(super) lane: Lane,
    /// The number of the last line known: ours.
    pub(super) n: i64,
    /// What that line says.
    pub(super) lined: Cursor,
    /// Everything up to here is settled or needs no settling.
    pub(super) cursor: Cursor,
    /// Everything up to here has been read.
    pub(super) read_to: Cursor,
    /// No event beyond this position has been read, by us or by anybody before us.
    seen: Position,
    /// Changes whenever what was read is void, so that a page asked for before is recognised.
    pub(super) epoch: u64,
    /// Something of it is parked or held dead.
    pub(super) troubled: bool,
    /// It is to be given back as soon as nothing is under way.
    pub(super) giving_back: bool,
    /// An act of it is being appended.
    pub(super) appending: bool,
    /// All that this act says is that so many entries were delivered: what follows them may be sent meanwhile. Together they are
    /// no more than one batch, which is what a crash may repeat.
    unsettled: Option<usize>,
    /// The database refuses that act. Nothing is read until it takes it: memory is for lanes that go on.
    pub(super) refused: bool,
    /// Entries and bytes that this act parks or buries: they are in memory until it is written.
    settling: (usize, usize),
    pub(super) flight: Option<Flight>,
    /// An event is being delivered from memory, sent in this epoch of the circuit.
    pub(super) hot_sending: Option<(Position, u64)>,
    /// Events that were delivered from memory and that the cursor has not passed.
    pub(super) hot: BTreeSet<Position>,
    /// Read ahead from the log.
    queue: VecDeque<Batch>,
    /// Parked entries that may go.
    parked: Option<Batch>,
    /// What was read ahead had to make room for others: nothing more is read while a batch is on the wire.
    shed: bool,
}

/// Entries of one lane that are sent together.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) entries: Vec<Entry>,
    /// The lane's cursor once they are settled.
    pub(super) end: Cursor,
    pub(super) bytes: usize,
}

impl HeldLane {
    /// The lane as it was when this line was its last; `n` is the line that took it.
    pub(super) fn taken(census: &LaneCensus, n: i64, epoch: u64) -> Self {
        Self {
            lane: census.lane,
            n,
            lined: census.cursor.clone(),
            cursor: census.cursor.clone(),
            read_to: census.cursor.clone(),
            seen: census.seen,
            epoch,
            troubled: census.troubled,
            giving_back: false,
            appending: false,
            unsettled: None,
            refused: false,
            settling: (0, 0),
            flight: None,
            hot_sending: None,
            hot: BTreeSet::new(),
            queue: VecDeque::new(),
            parked: None,
            shed: false,
        }
    }

    /// Entries and bytes that wait in memory.
    pub(super) fn load(&self) -> (usize, usize) {
        let flight = self.flight.as_ref().map_or(self.settling, Flight::load);
        self.queue
            .iter()
            .chain(&self.parked)
            .fold(flight, |(entries, bytes), batch| (entries + batch.entries.len(), bytes + batch.bytes))
    }

    /// Whether it is to be read on: it is kept, or events delivered from memory must still be passed.
    pub(super) fn wants_reading(&self) -> bool {
        (!self.giving_back || !self.hot.is_empty()) && !self.is_kept_small() && !self.refused
    }

    /// Whether parked entries may be asked for. While some are under way they would be read a second time.
    pub(super) fn wants_parked(&self) -> bool {
        self.troubled
            && !self.giving_back
            && !self.appending
            && !self.is_kept_small()
            && self.parked.is_none()
            && self.flight.as_ref().is_none_or(|flight| flight.origin == Origin::Log)
    }

    /// A page has been read; these are this lane's entries of it.
    pub(super) fn push(&mut self, batches: impl IntoIterator<Item = Batch>, reach: &Reach) {
        self.read_to = reach.end.clone();
        self.seen = self.seen.max(reach.seen);
        self.queue.extend(batches);
        self.advance();
    }

    pub(super) fn push_parked(&mut self, batch: Batch) {
        self.parked = Some(batch);
    }

    /// With nothing under way, what was read and had no entries for this lane is settled.
    fn advance(&mut self) {
        if self.flight.is_none() && self.queue.is_empty() && !self.appending {
            self.cursor = self.read_to.clone();
        }
    }

    /// Puts the next batch under way if there is one and the flight has room for it, and those after it as long as
    /// nothing of them is to be sent.
    pub(super) fn load_flight(&mut self, room: usize, desk: &mut Desk<'_>) {
        let idle =
            |held: &Self| held.flight.as_ref().is_none_or(|flight| flight.is_done() && flight.is_clean());
        while idle(self) && self.load_batch(room, desk) {}
    }

    /// Answers whether there was one.
    fn load_batch(&mut self, room: usize, desk: &mut Desk<'_>) -> bool {
        if !self.sends() {
            return false;
        }
        if self.flight.is_none() && !self.appending {
            let Some((origin, batch)) = self.next_batch() else { return false };
            let flight = self.flight.insert(Flight::new(origin, self.cursor.clone()));
            flight.admit(batch, &mut self.hot, desk);
            return true;
        }
        let under_way = self.unsettled.unwrap_or(0) + self.flight.as_ref().map_or(0, |flight| flight.size);
        let fits = self.queue.front().is_some_and(|batch| under_way + batch.entries.len() <= room);
        let Some(batch) = self.queue.pop_front_if(|_| fits && self.parked.is_none()) else { return false };
        let flight = self.flight.get_or_insert_with(|| Flight::new(Origin::Log, self.cursor.clone()));
        flight.admit(batch, &mut self.hot, desk);
        true
    }

    /// Whether anything of it may be sent: it is kept, and no act is being appended that changes what may follow.
    pub(super) fn sends(&self) -> bool {
        let kept = !self.giving_back || !self.hot.is_empty();
        kept && (!self.appending || self.unsettled.is_some())
    }

    /// Parked entries go first. They do not move the cursor.
    fn next_batch(&mut self) -> Option<(Origin, Batch)> {
        match self.parked.take() {
            Some(mut batch) => {
                batch.end = self.cursor.clone();
                Some((Origin::Parked, batch))
            }
            None => self.queue.pop_front().map(|batch| (Origin::Log, batch)),
        }
    }

    /// When what is under way is to be sent again although nothing has come in.
    pub(super) fn rests_until(&self) -> Option<Moment> {
        self.flight.as_ref()?.rests_until()
    }

    /// Whether what is under way has all its outcomes and nothing is gained by waiting with its settlement.
    pub(super) fn settles_at(&self, room: usize, interval: std::time::Duration) -> Option<Moment> {
        let flight = self.flight.as_ref().filter(|flight| flight.is_done() && !self.appending)?;
        let since = flight.since.unwrap_or_default();
        let blocked = self.parked.is_some()
            || self.queue.front().is_some_and(|next| flight.size + next.entries.len() > room);
        if self.giving_back || !flight.is_clean() || blocked { Some(since) } else { Some(since + interval) }
    }

    /// The line that says what is done: settled, given back, or only moved on. None if there is nothing to say yet.
    pub(super) fn next_act(&mut self) -> Option<Act> {
        if self.appending {
            return None;
        }
        let kind = if self.can_be_given_back() { ActKind::GivenBack } else { ActKind::Settled };
        let flight = match kind {
            ActKind::GivenBack => self.flight.take().and_then(Flight::abandon),
            _ => Some(self.flight.take_if(|flight| flight.is_done())?),
        };
        let mut act = Act {
            lane: self.lane,
            n: self.n + 1,
            kind,
            cursor: self.cursor.clone(),
            delivered: 0,
            changes: Vec::new(),
        };
        if let Some(mut flight) = flight {
            self.settling = flight.load();
            act.cursor = self.settled_by(&flight).clone();
            act.delivered = flight.delivered;
            self.unsettled = Some(flight.size).filter(|_| flight.is_clean() && kind == ActKind::Settled);
            act.changes = std::mem::take(&mut flight.changes);
        }
        self.appending = true;
        Some(act)
    }

    /// How far the lane is settled with this flight. What was read behind it and had nothing for this lane is passed as well, so
    /// that lanes which are settled together stand at one place: a log with snapshots then keeps one for all of them.
    fn settled_by<'a>(&'a self, flight: &'a Flight) -> &'a Cursor {
        let nothing_behind = flight.is_clean() && self.queue.is_empty();
        if nothing_behind && self.read_to > flight.end { &self.read_to } else { &flight.end }
    }

    /// The line that only moves the cursor of a lane without traffic of its own.
    pub(super) fn move_act(&mut self) -> Option<Act> {
        let idle = !self.appending && self.flight.is_none() && !self.giving_back;
        if !idle || self.lined >= self.cursor {
            return None;
        }
        self.appending = true;
        let (lane, n, cursor) = (self.lane, self.n + 1, self.cursor.clone());
        Some(Act { lane, n, kind: ActKind::Settled, cursor, delivered: 0, changes: Vec::new() })
    }

    pub(super) fn can_be_given_back(&self) -> bool {
        let on_wire = self.hot_sending.is_some() || self.flight.as_ref().is_some_and(Flight::is_sending);
        self.giving_back && !self.appending && !on_wire && self.hot.is_empty()
    }

    /// Its line is written. What was read ahead is void if the settlement parked or buried something: whether a key
    /// is blocked was judged before.
    ///
    /// Answers whether it is to be read again.
    pub(super) fn lined(&mut self, act: &Act, epoch: u64) -> bool {
        self.appending = false;
        self.unsettled = None;
        self.settling = (0, 0);
        self.shed = false;
        self.n = act.n;
        self.lined = act.cursor.clone();
        self.cursor = act.cursor.clone();
        let void = act.changes.iter().any(|change| !matches!(change, Change::Unpark(_)));
        let read_again = std::mem::take(&mut self.refused) || void && self.read_to > self.cursor;
        if void {
            self.troubled = true;
            self.forget(epoch);
        }
        self.advance();
        read_again
    }

    /// The database refuses this act, for now. What was read ahead goes.
    pub(super) fn refuse(&mut self, act: &Act, epoch: u64) {
        self.forget(epoch);
        self.read_to = self.flight.as_ref().map_or(&act.cursor, |flight| &flight.end).clone();
        self.unsettled = None;
        self.refused = true;
    }

    /// Forgets what was read and not sent.
    pub(super) fn forget(&mut self, epoch: u64) {
        self.queue.clear();
        self.parked = None;
        self.read_to = self.cursor.clone();
        self.epoch = epoch;
    }

    /// Since when a batch is on the wire while others wait in memory behind it.
    pub(super) fn hoards_since(&self) -> Option<Moment> {
        let hoards = !self.queue.is_empty() || self.parked.is_some();
        self.flight.as_ref().filter(|_| hoards)?.sending_since()
    }

    /// Forgets what waits behind the batch on the wire; it is read again when that is back.
    pub(super) fn shed(&mut self, epoch: u64) {
        let end = self.flight.as_ref().map_or(&self.cursor, |flight| &flight.end).clone();
        self.forget(epoch);
        self.read_to = end;
        self.shed = true;
    }

    fn is_kept_small(&self) -> bool {
        self.shed && self.flight.as_ref().is_some_and(Flight::is_sending)
    }

    /// Whether an event that was just committed may be delivered from memory: nothing of the lane is on the wire or
    /// waiting, and the log has not yielded it.
    pub(super) fn takes_hot(&self, position: Position, marks: usize) -> bool {
        let free = self.flight.as_ref().is_none_or(|flight| flight.is_done() && flight.is_clean());
        free && !self.giving_back
            && self.hot_sending.is_none()
            && self.queue.is_empty()
            && self.parked.is_none()
            && position > self.seen
            && self.hot.len() < marks
    }
}
