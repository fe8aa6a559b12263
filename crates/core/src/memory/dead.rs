//! The dead letters of all subscriptions, and which keys they hold. They outlive their subscription.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::lanes::LaneCounts;
use crate::{DeadFilter, DeadReason, Event, EventId, Lane, LaneSet, Position, Timestamp};

#[derive(Clone, Debug)]
pub(super) struct DeadRow {
    pub(super) subscription: String,
    pub(super) position: Position,
    pub(super) lane: Lane,
    pub(super) event: Arc<Event>,
    /// Why the row could not be understood from which this is copied.
    pub(super) defect: Option<String>,
    pub(super) reason: DeadReason,
    pub(super) error: String,
    pub(super) attempts: u32,
    pub(super) holds: bool,
    pub(super) moved_at: Timestamp,
    pub(super) resolved: Option<Resolved>,
    pub(super) new_id: Option<EventId>,
}

/// What a person did about a dead letter.
#[derive(Clone, Debug)]
pub(super) struct Resolved {
    pub(super) how: &'static str,
    pub(super) at: Timestamp,
    pub(super) by: String,
}

#[derive(Clone, Debug, Default)]
pub(super) struct DeadTable {
    rows: BTreeMap<i64, DeadRow>,
    last_id: i64,
    places: BTreeMap<String, Places>,
}

/// What is needed to know of the dead letters of one subscription on the way of every read.
#[derive(Clone, Debug, Default)]
struct Places {
    /// The last dead letter at each position.
    latest: BTreeMap<Position, i64>,
    /// Unresolved ones that hold their key.
    held: BTreeMap<String, BTreeSet<(Position, i64)>>,
    /// Unresolved ones that hold, with or without a key.
    held_lanes: LaneCounts,
}

impl DeadTable {
    pub(super) fn bury(&mut self, row: DeadRow) {
        self.last_id += 1;
        let places = self.places.entry(row.subscription.clone()).or_default();
        places.latest.insert(row.position, self.last_id);
        if row.holds {
            places.held_lanes.add(row.lane);
            if let Some(key) = &row.event.key {
                places.held.entry(key.clone()).or_default().insert((row.position, self.last_id));
            }
        }
        self.rows.insert(self.last_id, row);
    }

    /// Marks a dead letter as done with. False if it was, or is not there.
    pub(super) fn resolve(&mut self, dead_id: i64, resolved: Resolved, new_id: Option<EventId>) -> bool {
        let Some(row) = self.rows.get_mut(&dead_id).filter(|row| row.resolved.is_none()) else {
            return false;
        };
        row.resolved = Some(resolved);
        row.new_id = new_id;
        if row.holds
            && let Some(places) = self.places.get_mut(&row.subscription)
        {
            places.release(row, dead_id);
        }
        true
    }

    pub(super) fn get(&self, dead_id: i64) -> Option<&DeadRow> {
        self.rows.get(&dead_id)
    }

    /// All dead letters after this one, oldest first.
    pub(super) fn after(&self, dead_id: Option<i64>) -> impl Iterator<Item = (i64, &DeadRow)> {
        let start = dead_id.map_or(i64::MIN, |id| id.saturating_add(1));
        self.rows.range(start..).map(|(id, row)| (*id, row))
    }

    /// The unresolved ones that fit, oldest first.
    pub(super) fn matching<'a>(&'a self, filter: &'a DeadFilter) -> impl Iterator<Item = (i64, &'a DeadRow)> {
        let named = move |id: i64| filter.dead_id.is_none_or(|wanted| wanted == id);
        self.after(None).filter(move |(id, row)| row.resolved.is_none() && named(*id) && row.fits(filter))
    }

    /// The number of the last one.
    pub(super) fn last_id(&self) -> i64 {
        self.last_id
    }

    /// The unresolved ones of one subscription.
    pub(super) fn unresolved<'a>(
        &'a self,
        subscription: &'a str,
    ) -> impl Iterator<Item = (i64, &'a DeadRow)> {
        self.after(None).filter(move |(_, row)| row.resolved.is_none() && row.subscription == subscription)
    }

    /// Removes letters that were resolved before this time, of events that are gone. Answers how many.
    pub(super) fn prune(
        &mut self,
        before: Timestamp,
        step: usize,
        is_gone: impl Fn(Position) -> bool,
    ) -> usize {
        let old = |row: &DeadRow| row.resolved.as_ref().is_some_and(|resolved| resolved.at < before);
        let going = self.rows.iter().filter(|(_, row)| old(row) && is_gone(row.position)).map(|(id, _)| *id);
        let going: Vec<i64> = going.take(step).collect();
        for id in &going {
            if let Some(row) = self.rows.remove(id)
                && let Some(places) = self.places.get_mut(&row.subscription)
            {
                places.latest.retain(|_, latest| latest != id);
            }
        }
        going.len()
    }

    /// The last dead letter at this place.
    pub(super) fn latest(&self, subscription: &str, position: Position) -> Option<&DeadRow> {
        self.rows.get(self.places.get(subscription)?.latest.get(&position)?)
    }

    /// Where the event is that was sent again under this id.
    pub(super) fn find_new(&self, id: EventId) -> Option<Position> {
        self.rows.values().find(|row| row.new_id == Some(id)).map(|row| row.position)
    }

    /// Whether an unresolved dead letter of this key, before this position, holds it.
    pub(super) fn holds(&self, subscription: &str, key: &str, position: Position) -> bool {
        self.holder(subscription, key).is_some_and(|first| first < position)
    }

    /// The first position of this key at which an unresolved dead letter holds it.
    pub(super) fn holder(&self, subscription: &str, key: &str) -> Option<Position> {
        let held = self.places.get(subscription)?.held.get(key)?;
        held.first().map(|(first, _)| *first)
    }

    /// The lanes in which an unresolved dead letter holds.
    pub(super) fn held_lanes(&self, subscription: &str) -> LaneSet {
        self.places.get(subscription).map_or(LaneSet::EMPTY, |places| places.held_lanes.occupied())
    }
}

impl Places {
    fn release(&mut self, row: &DeadRow, dead_id: i64) {
        self.held_lanes.remove(row.lane);
        if let Some(key) = &row.event.key
            && let Some(held) = self.held.get_mut(key)
        {
            held.remove(&(row.position, dead_id));
            if held.is_empty() {
                self.held.remove(key);
            }
        }
    }
}

impl DeadRow {
    /// Whether the filter wants it, resolved or not.
    pub(super) fn fits(&self, filter: &DeadFilter) -> bool {
        filter.subscription.as_ref().is_none_or(|name| *name == self.subscription)
            && filter.reason.is_none_or(|reason| reason == self.reason)
            && filter.event_type.as_ref().is_none_or(|name| **name == *self.event.event_type)
            && filter.topic.as_ref().is_none_or(|topic| *topic == self.event.topic)
            && filter.key.as_ref().is_none_or(|key| self.event.key.as_ref() == Some(key))
            && filter.error.as_ref().is_none_or(|error| error.fits(&self.error))
            && filter.moved_after.is_none_or(|time| self.moved_at >= time)
            && filter.moved_before.is_none_or(|time| self.moved_at < time)
    }
}
