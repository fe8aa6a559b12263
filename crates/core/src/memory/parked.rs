//! What one subscription has parked: by position, with an index by key.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::lanes::LaneCounts;
use crate::{Due, Event, Lane, LaneSet, Parked, Position, Timestamp, cut_error};

#[derive(Clone, Debug)]
pub(super) struct ParkedRow {
    pub(super) lane: Lane,
    pub(super) event: Arc<Event>,
    /// Why the row could not be understood from which this is copied.
    pub(super) defect: Option<String>,
    pub(super) attempts: u32,
    pub(super) due_at: Timestamp,
    /// It is here only because of `deliver_after`, and has never been tried.
    pub(super) delayed: bool,
    pub(super) last_error: Option<String>,
}

impl ParkedRow {
    pub(super) fn is_due(&self, now: Timestamp) -> bool {
        self.due_at <= now
    }

    /// Whether later events of its key have to wait for it.
    pub(super) fn is_in_the_way(&self, now: Timestamp) -> bool {
        !self.delayed || self.is_due(now)
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct ParkedTable {
    rows: BTreeMap<Position, ParkedRow>,
    by_key: BTreeMap<String, BTreeSet<Position>>,
    lanes: LaneCounts,
}

impl ParkedTable {
    pub(super) fn rows(&self) -> impl Iterator<Item = (Position, &ParkedRow)> {
        self.rows.iter().map(|(position, row)| (*position, row))
    }

    pub(super) fn positions(&self) -> impl Iterator<Item = Position> {
        self.rows.keys().copied()
    }

    pub(super) fn get(&self, position: Position) -> Option<&ParkedRow> {
        self.rows.get(&position)
    }

    /// The lanes in which something is parked.
    pub(super) fn lanes(&self) -> LaneSet {
        self.lanes.occupied()
    }

    /// Whether a parked event of this key, before this position, stops what comes after it.
    pub(super) fn blocks(&self, key: &str, position: Position, now: Timestamp) -> bool {
        self.blocker(key, position, now).is_some()
    }

    /// The first parked event of this key, before this position, that stops what comes after it.
    pub(super) fn blocker(&self, key: &str, position: Position, now: Timestamp) -> Option<Position> {
        let mut earlier = self.by_key.get(key)?.range(..position);
        earlier.find(|earlier| self.rows[earlier].is_in_the_way(now)).copied()
    }

    /// Parks an event as a settlement says.
    pub(super) fn park(&mut self, lane: Lane, parked: &Parked, now: Timestamp) {
        // A follower that is parked already has nothing new to say; its own failures and its time stay.
        if parked.error.is_none() && self.rows.contains_key(&parked.position) {
            return;
        }
        let (due_at, delayed) = match parked.due {
            Due::In(span) => (now + span, false),
            Due::Delayed(time) => (time, true),
        };
        let row = ParkedRow {
            lane,
            event: Arc::new(parked.event.clone()),
            defect: None,
            attempts: parked.attempts,
            due_at,
            delayed,
            last_error: parked.error.as_deref().map(|error| cut_error(error).to_owned()),
        };
        self.insert(parked.position, row);
    }

    /// Puts the row there, instead of the one that may be there.
    pub(super) fn insert(&mut self, position: Position, row: ParkedRow) {
        self.remove(position);
        self.lanes.add(row.lane);
        if let Some(key) = &row.event.key {
            self.by_key.entry(key.clone()).or_default().insert(position);
        }
        self.rows.insert(position, row);
    }

    pub(super) fn remove(&mut self, position: Position) -> Option<ParkedRow> {
        let row = self.rows.remove(&position)?;
        self.lanes.remove(row.lane);
        if let Some(key) = &row.event.key
            && let Some(positions) = self.by_key.get_mut(key)
        {
            positions.remove(&position);
            if positions.is_empty() {
                self.by_key.remove(key);
            }
        }
        Some(row)
    }
}
