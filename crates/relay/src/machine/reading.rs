//! What to read next, and what to do with what was read.
//!
//! The lanes of a relay move through the log together: one read serves all that stand at the same place. A lane that
//! was just taken over, or that had no room, is behind; it is read up to where the others stand and joins them again.

use std::time::Duration;

use posthaste_core::{Cursor, Entry, Lane, LaneSet, Limit, OnDead, Page, Position, Read};

use super::{
    Command, Machine, Note,
    lane::{Batch, HeldLane},
    settling::earlier,
};
use crate::Moment;

/// A batch that is on the wire for longer than this is slow, and so is its lane.
const STUCK: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct Reading {
    read: Read,
    /// The epoch of each lane when the read was asked for: one that has changed wants nothing of it any more.
    epochs: Vec<(Lane, u64)>,
}

impl Machine {
    /// A page was read; `None` if the log could not be read.
    pub fn page(&mut self, now: Moment, page: Option<Page>) {
        let Some(Reading { read, epochs }) = self.reading.take() else { return };
        let Some(page) = page else {
            self.pace.failed(now);
            return;
        };
        if page.void {
            self.lose_place(now);
            return;
        }
        self.renewal_wanted |= page.stale;
        // Paused, or configured anew elsewhere: what the filter here excludes may be wanted by now. Only a lane that is on its
        // way back goes on, to pass what was delivered from memory.
        let goes_on = |held: &HeldLane| !page.stale || held.giving_back;
        let valid: LaneSet = epochs
            .into_iter()
            .filter(|(lane, epoch)| {
                self.lanes.get(lane).is_some_and(|held| held.epoch == *epoch && goes_on(held))
            })
            .map(|(lane, _)| lane)
            .collect();
        for held in self.lanes.values_mut() {
            held.troubled = page.troubled.contains(held.lane);
        }
        let mut found = self.accept_parked(page.parked, &read, valid);
        let reach = Reach { start: page.start, end: page.end, seen: page.seen };
        found |= self.accept_entries(page.entries, &reach, &read, valid);
        if let Some(wait) = page.next_due {
            self.next_due = earlier(self.next_due, now + wait);
        }
        if page.stale {
            self.pace.failed(now);
        } else if found || page.more {
            self.pace.found(now, page.more);
        } else {
            self.pace.found_nothing(now);
        }
    }

    fn accept_parked(&mut self, entries: Vec<Entry>, read: &Read, valid: LaneSet) -> bool {
        let (mut found, most) = (false, self.batch());
        for (lane, entries) in split_by_lane(entries) {
            let wanted = read.parked.contains(lane) && valid.contains(lane);
            if let Some(held) = self.lanes.get_mut(&lane).filter(|held| wanted && held.wants_parked()) {
                found = true;
                let entries = entries.into_iter().take(most).collect();
                held.push_parked(batch(entries, Cursor::default()));
            }
        }
        found
    }

    /// Answers whether something came that is worth reading on for at once.
    fn accept_entries(&mut self, entries: Vec<Entry>, reach: &Reach, read: &Read, valid: LaneSet) -> bool {
        let mut skipped = 0;
        let (mut found, most) = (false, self.batch());
        let mut by_lane = split_by_lane(entries);
        for lane in read.lanes.iter().filter(|lane| valid.contains(*lane)) {
            let Some(held) = self.lanes.get_mut(&lane) else { continue };
            let mut entries = by_lane.remove(&lane).unwrap_or_default();
            let before = entries.len();
            entries.retain(|entry| self.subscription.filter.matches(&entry.event));
            skipped += before - entries.len();
            found |=
                before > entries.len() || entries.iter().any(|entry| !held.hot.contains(&entry.position));
            held.push(cut(entries, reach, most), reach);
        }
        if skipped > 0 {
            self.notes.push(Note::Skipped(skipped as u64));
        }
        found
    }

    /// The read to be made now, if there is one.
    pub(super) fn poll_read(&mut self, now: Moment) -> Option<Command> {
        let held = self.deadline.is_some_and(|deadline| now < deadline);
        if self.reading.is_some() || !held || self.pace.holds_off(now) {
            return None;
        }
        self.make_room(now);
        let limit = self.room()?;
        let due = self.next_due.take_if(|at| *at <= now).is_some();
        let parked = self.wants_parked();
        let group = self.next_group(now, due, !parked.is_empty())?;
        if group.lanes.is_empty() && parked.is_empty() {
            return None;
        }
        self.pace.begin(!group.lanes.is_empty() && group.until.is_none(), !parked.is_empty());
        let read = Read {
            subscription: self.subscription.name.clone(),
            generation: self.generation,
            hold_dead: self.subscription.on_dead == OnDead::Hold,
            lanes: group.lanes,
            after: group.after,
            until: group.until,
            parked,
            limit,
        };
        let epochs = self.lanes.values().map(|held| (held.lane, held.epoch)).collect();
        self.reading = Some(Reading { read: read.clone(), epochs });
        Some(Command::Read(read))
    }

    fn wants_parked(&self) -> LaneSet {
        self.lanes.values().filter(|held| held.wants_parked()).map(|held| held.lane).collect()
    }

    /// How much may be read of each kind, from the log and of what is parked, without going over the bounds.
    fn room(&self) -> Option<Limit> {
        let kinds = if self.wants_parked().is_empty() { 1 } else { 2 };
        let (entries, bytes) = self
            .lanes
            .values()
            .map(HeldLane::load)
            .fold((0, 0), |sum, load| (sum.0 + load.0, sum.1 + load.1));
        let (page, buffer) = (self.settings.page, self.settings.buffer);
        let limit = Limit {
            entries: page.entries.min(buffer.entries.saturating_sub(entries) / kinds),
            bytes: page.bytes.min(buffer.bytes.saturating_sub(bytes) / kinds),
        };
        // A sliver of a page is not worth a statement. With nothing in memory there is room for one entry at least.
        let empty = entries == 0;
        let worth = limit.entries * 4 >= page.entries && limit.bytes * 4 >= page.bytes;
        (worth || empty).then_some(Limit { entries: limit.entries.max(1), bytes: limit.bytes.max(1) })
    }

    /// A lane whose batch does not come back must not keep the others from being read: what was read ahead of it goes.
    fn make_room(&mut self, now: Moment) {
        if self.next_shedding().is_none_or(|at| at > now) {
            return;
        }
        let epoch = self.next_epoch();
        for held in self.lanes.values_mut() {
            if held.hoards_since().is_some_and(|since| since + STUCK <= now) {
                held.shed(epoch);
            }
        }
    }

    /// When memory is full and there is a lane with nothing in it: from when on others make room.
    pub(super) fn next_shedding(&self) -> Option<Moment> {
        let starved = self.lanes.values().any(|held| held.wants_reading() && held.load().0 == 0);
        if !starved || self.reading.is_some() || self.room().is_some() {
            return None;
        }
        self.lanes.values().filter_map(HeldLane::hoards_since).min().map(|since| since + STUCK)
    }

    /// The lanes to read together: those at the front, and every other time those that are behind.
    fn next_group(&mut self, now: Moment, due: bool, parked: bool) -> Option<Group> {
        let cap = self.settings.page.entries;
        let wanting: Vec<&HeldLane> =
            self.lanes.values().filter(|held| held.wants_reading() && held.load().0 < cap).collect();
        let front = wanting.iter().map(|held| &held.read_to).max().cloned().unwrap_or_default();
        let last = wanting.iter().map(|held| &held.read_to).min().cloned().unwrap_or_default();
        let timely = due || self.pace.is_due(now, !wanting.is_empty(), parked);
        let behind = last < front && (!self.read_behind || !timely);
        if self.lanes.is_empty() || !(behind || timely) {
            return None;
        }
        let after = if behind { last } else { front };
        let lanes = wanting.iter().filter(|held| held.read_to == after).map(|held| held.lane).collect();
        let until = wanting.iter().map(|held| &held.read_to).filter(|cursor| **cursor > after).min().cloned();
        self.read_behind = behind;
        Some(Group { lanes, after, until })
    }
}

/// Lanes that stand at the same place.
struct Group {
    lanes: LaneSet,
    after: Cursor,
    /// Where others stand already; nothing for those at the front.
    until: Option<Cursor>,
}

fn split_by_lane(entries: Vec<Entry>) -> std::collections::BTreeMap<Lane, Vec<Entry>> {
    let mut lanes = std::collections::BTreeMap::<Lane, Vec<Entry>>::new();
    for entry in entries {
        lanes.entry(entry.lane).or_default().push(entry);
    }
    lanes
}

/// From where to where a page reaches.
pub(super) struct Reach {
    start: Cursor,
    pub(super) end: Cursor,
    /// No event beyond this position was read.
    pub(super) seen: Position,
}

/// Cuts the entries of a lane into batches. The last one reaches to the end of the page.
fn cut(entries: Vec<Entry>, reach: &Reach, size: usize) -> Vec<Batch> {
    let mut batches = Vec::new();
    let mut entries = entries.into_iter().peekable();
    while entries.peek().is_some() {
        let part: Vec<Entry> = entries.by_ref().take(size).collect();
        let last = part.last().map(|entry| entry.position).unwrap_or_default();
        batches.push(batch(part, reach.start.moved_to(last)));
    }
    if let Some(last) = batches.last_mut() {
        last.end = reach.end.clone();
    }
    batches
}

fn batch(entries: Vec<Entry>, end: Cursor) -> Batch {
    let bytes = entries.iter().map(Entry::size).sum();
    Batch { entries, end, bytes }
}
