//! What a test looks at, and what it tells a sink to do.

use posthaste_core::{
    Act, Change, DeadFilter, DeadLetter, Delivery, Entry, EventId, Fault, Lane, LaneSet, Position,
    memory::Line,
};

use super::{Bench, NAME, draft};

impl Bench {
    /// Where something is parked.
    pub(crate) fn parked(&self) -> Vec<Position> {
        self.store.parked_positions(NAME).collect()
    }

    /// The positions of the dead letters that nobody has resolved.
    pub(crate) fn dead(&self) -> Vec<Position> {
        self.letters().iter().map(|letter| letter.position).collect()
    }

    /// Their numbers.
    pub(crate) fn dead_ids(&self) -> Vec<i64> {
        self.letters().iter().map(|letter| letter.dead_id).collect()
    }

    fn letters(&self) -> Vec<DeadLetter> {
        self.store.dead(&DeadFilter { limit: 1_000, ..DeadFilter::default() }).unwrap().items
    }

    /// The last line of a lane.
    pub(crate) fn last_line(&self, lane: Lane) -> Line {
        self.store.lines(NAME, lane).last().unwrap().clone()
    }

    /// How often the log counts a failed delivery of the event at this position.
    pub(crate) fn failures_of(&self, position: Position) -> usize {
        let timeline = self.store.show(self.db_now(), self.id_at(position)).unwrap();
        timeline.items.iter().filter(|item| matches!(item.what.as_str(), "failed" | "dead")).count()
    }

    /// Events are published one by one, so that the first has position 1.
    fn id_at(&self, position: Position) -> EventId {
        self.events[usize::try_from(position.0 - 1).unwrap()]
    }

    /// The lanes whose parked entries the machine asks for now, if somebody rings.
    pub(crate) fn asks_for_parked(&mut self) -> LaneSet {
        self.machine.ring();
        self.drain();
        let read = self.reads.pop_front().expect("a ring makes it read");
        self.answer_read(&read);
        read.parked
    }
}

/// The positions that an act parks.
pub(crate) fn parked(act: &Act) -> Vec<Position> {
    let parks = act.changes.iter().filter_map(|change| match change {
        Change::Park(parked) => Some(parked.position),
        _ => None,
    });
    parks.collect()
}

/// The positions that an act makes dead letters.
pub(crate) fn buried(act: &Act) -> Vec<Position> {
    let burials = act.changes.iter().filter_map(|change| match change {
        Change::Bury(buried) => Some(buried.position),
        _ => None,
    });
    burials.collect()
}

/// The positions of a batch.
pub(crate) fn positions(entries: &[Entry]) -> Vec<Position> {
    entries.iter().map(|entry| entry.position).collect()
}

/// Everything is delivered.
pub(crate) fn well(_: &Entry) -> Delivery {
    Delivery::Delivered
}

/// Everything is delivered, except what is at this position.
pub(crate) fn refuse(position: Position, fault: Fault) -> impl FnMut(&Entry) -> Delivery {
    move |entry| {
        if entry.position == position { Delivery::Failed(fault.clone()) } else { Delivery::Delivered }
    }
}

/// A key whose events are in this lane of a log with so many lanes.
pub(crate) fn key_in(lane: Lane, lanes: u8) -> String {
    let mut scratch = Bench::new(lanes);
    let mut numbers = 0..;
    loop {
        let key = format!("k{}", numbers.next().unwrap_or(0));
        if scratch.publish_event(draft().key(key.as_str())).lane == lane {
            return key;
        }
    }
}
