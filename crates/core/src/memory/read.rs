//! Reading: entries behind a cursor, and parked entries that may go.

use std::{collections::BTreeSet, time::Duration};

use super::{MemoryStore, SubscriptionRow, events::Row, parked::ParkedRow};
use crate::{
    Cursor, Entry, Event, Limit, Origin, Page, Position, Read, Timestamp, driver::Filling, oversized,
};

impl MemoryStore {
    /// Reads entries behind a cursor and parked entries that are due.
    #[must_use]
    pub fn read(&self, now: Timestamp, read: &Read) -> Page {
        let row = self.subscriptions.get(&read.subscription);
        let view = View { store: self, row, now, read };
        let (entries, more) = fill(view.entries(), read.limit);
        let end = match entries.last() {
            Some(last) if more => last.position,
            None if more => read.after.after,
            _ => view.until().max(read.after.after),
        };
        let (parked, _) = fill(view.parked(), read.limit);
        Page {
            entries,
            start: read.after.clone(),
            end: Cursor::at(end),
            seen: end,
            more,
            parked,
            troubled: self.troubled(&read.subscription),
            next_due: view.next_due(),
            stale: row.is_none_or(|row| row.paused || row.generation != read.generation),
            void: false,
        }
    }

    /// An event as it comes to a relay, and what is wrong with it. What is too large comes without its payload.
    fn yielded(&self, event: &Event, defect: Option<&str>) -> (Event, Option<String>) {
        let size = event.payload.len();
        if size <= self.payload_limit {
            return (event.clone(), defect.map(str::to_owned));
        }
        let payload = event.payload.without_bytes();
        (Event { payload, ..event.clone() }, Some(oversized(size, self.payload_limit)))
    }
}

/// The log as one read sees it.
struct View<'a> {
    store: &'a MemoryStore,
    row: Option<&'a SubscriptionRow>,
    now: Timestamp,
    read: &'a Read,
}

impl<'a> View<'a> {
    fn entries(&self) -> impl Iterator<Item = Entry> {
        let rows = self.store.log.of_lanes(self.read.lanes, self.read.after.after, self.until());
        rows.map(|(position, row)| self.entry(position, row))
    }

    /// Where the page ends at the latest. Nothing beyond the last committed position can have been read.
    fn until(&self) -> Position {
        let last = self.store.log.last();
        self.read.until.as_ref().map_or(last, |until| until.after.min(last))
    }

    fn entry(&self, position: Position, row: &Row) -> Entry {
        let blocked = row.event.key.as_deref().is_some_and(|key| self.is_blocked(key, position));
        let (event, defect) = self.store.yielded(&row.event, row.defect.as_deref());
        Entry {
            position,
            lane: row.lane,
            event,
            origin: Origin::Log,
            attempts: 0,
            blocked,
            delayed: row.event.deliver_after.is_some_and(|time| time > self.now),
            defect,
        }
    }

    fn is_blocked(&self, key: &str, position: Position) -> bool {
        self.row.is_some_and(|row| row.parked.blocks(key, position, self.now)) || self.is_held(key, position)
    }

    fn is_held(&self, key: &str, position: Position) -> bool {
        self.read.hold_dead && self.store.dead.holds(&self.read.subscription, key, position)
    }

    /// Parked entries that are due and wait for nobody.
    fn parked(&self) -> impl Iterator<Item = Entry> {
        // All rows of a key are in one lane and come in position order, so that a head is seen before its followers.
        let mut waiting: BTreeSet<&'a str> = BTreeSet::new();
        self.parked_rows().filter_map(move |(position, row)| {
            let key = row.event.key.as_deref();
            if !row.is_due(self.now) {
                if row.is_in_the_way(self.now) {
                    waiting.extend(key);
                }
                return None;
            }
            let stopped = key.is_some_and(|key| waiting.contains(key) || self.is_held(key, position));
            (!stopped).then(|| self.parked_entry(position, row))
        })
    }

    fn parked_rows(&self) -> impl Iterator<Item = (Position, &'a ParkedRow)> {
        let lanes = self.read.parked;
        let wanted = self.row.filter(|row| row.parked.lanes().iter().any(|lane| lanes.contains(lane)));
        wanted.into_iter().flat_map(|row| row.parked.rows()).filter(move |(_, row)| lanes.contains(row.lane))
    }

    fn parked_entry(&self, position: Position, row: &ParkedRow) -> Entry {
        let (event, defect) = self.store.yielded(&row.event, row.defect.as_deref());
        Entry {
            position,
            lane: row.lane,
            event,
            origin: Origin::Parked,
            attempts: row.attempts,
            blocked: false,
            delayed: false,
            defect,
        }
    }

    fn next_due(&self) -> Option<Duration> {
        let later = self.parked_rows().map(|(_, row)| row.due_at).filter(|due_at| *due_at > self.now);
        later.min().map(|due_at| due_at.since(self.now))
    }
}

/// As many entries as the limit allows, and whether there were more.
fn fill(entries: impl Iterator<Item = Entry>, limit: Limit) -> (Vec<Entry>, bool) {
    let mut filling = Filling::new(limit);
    for entry in entries {
        if !filling.take(entry) {
            break;
        }
    }
    (filling.entries, filling.more)
}
