//! The table of events, with what it takes to find a row by lane, by id and by idempotency key.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet, BinaryHeap, btree_set},
    ops::Bound,
    sync::Arc,
};

use crate::{Event, EventId, Lane, LaneSet, Position, Timestamp};

/// Two texts under which something is unique: topic and idempotency key, or type and id of an aggregate.
pub(super) type Pair = (String, String);

/// An event as it stands in the log. The event is shared, so that a clone of the store is cheap.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) event: Arc<Event>,
    pub(super) lane: Lane,
    pub(super) created_at: Timestamp,
    pub(super) defect: Option<String>,
}

#[derive(Clone, Debug)]
pub(super) struct EventTable {
    rows: BTreeMap<Position, Row>,
    by_lane: Vec<BTreeSet<Position>>,
    by_id: BTreeMap<EventId, Position>,
    by_idempotency: BTreeMap<Pair, Position>,
    sequences: BTreeMap<Pair, i64>,
    /// Counts on when rows are pruned: a position is never used again.
    last: Position,
}

impl EventTable {
    pub(super) fn new(lanes: u8) -> Self {
        Self {
            rows: BTreeMap::new(),
            by_lane: vec![BTreeSet::new(); usize::from(lanes)],
            by_id: BTreeMap::new(),
            by_idempotency: BTreeMap::new(),
            sequences: BTreeMap::new(),
            last: Position(0),
        }
    }

    /// The last committed position.
    pub(super) fn last(&self) -> Position {
        self.last
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn get(&self, position: Position) -> Option<&Row> {
        self.rows.get(&position)
    }

    pub(super) fn find(&self, id: EventId) -> Option<Position> {
        self.by_id.get(&id).copied()
    }

    pub(super) fn find_idempotent(&self, pair: &Pair) -> Option<Position> {
        self.by_idempotency.get(pair).copied()
    }

    pub(super) fn sequence(&self, aggregate: &Pair) -> i64 {
        self.sequences.get(aggregate).copied().unwrap_or(0)
    }

    pub(super) fn set_sequence(&mut self, aggregate: Pair, last: i64) {
        self.sequences.insert(aggregate, last);
    }

    /// Adds the row at the next position.
    pub(super) fn push(&mut self, row: Row) {
        self.last.0 += 1;
        self.by_lane[usize::from(row.lane.0)].insert(self.last);
        self.by_id.insert(row.event.id, self.last);
        if let Some(pair) = idempotency(&row.event) {
            self.by_idempotency.insert(pair, self.last);
        }
        self.rows.insert(self.last, row);
    }

    pub(super) fn remove(&mut self, position: Position) {
        let Some(row) = self.rows.remove(&position) else { return };
        self.by_lane[usize::from(row.lane.0)].remove(&position);
        self.by_id.remove(&row.event.id);
        if let Some(pair) = idempotency(&row.event) {
            self.by_idempotency.remove(&pair);
        }
    }

    pub(super) fn garble(&mut self, position: Position, why: &str) {
        if let Some(row) = self.rows.get_mut(&position) {
            row.defect = Some(why.to_owned());
        }
    }

    /// All rows, newest first, before this position if one is given.
    pub(super) fn newest_first(&self, before: Option<Position>) -> impl Iterator<Item = (Position, &Row)> {
        let end = before.map_or(Bound::Unbounded, Bound::Excluded);
        self.rows.range((Bound::Unbounded, end)).rev().map(|(position, row)| (*position, row))
    }

    /// All rows, oldest first, behind this position if one is given.
    pub(super) fn oldest_first(&self, after: Option<Position>) -> impl Iterator<Item = (Position, &Row)> {
        let start = after.map_or(Bound::Unbounded, Bound::Excluded);
        self.rows.range((start, Bound::Unbounded)).map(|(position, row)| (*position, row))
    }

    /// The positions of one lane behind `after`, in order.
    pub(super) fn of_lane(&self, lane: Lane, after: Position) -> impl Iterator<Item = Position> {
        self.lane_range(lane, after).copied()
    }

    /// The positions of one lane from the oldest up to and including `until`.
    pub(super) fn of_lane_until(&self, lane: Lane, until: Position) -> impl Iterator<Item = Position> {
        self.by_lane[usize::from(lane.0)].range(..=until).copied()
    }

    /// The rows of these lanes with `after < position <= until`, in position order. It touches only rows of these
    /// lanes, however long the log is.
    pub(super) fn of_lanes(
        &self,
        lanes: LaneSet,
        after: Position,
        until: Position,
    ) -> impl Iterator<Item = (Position, &Row)> {
        let known = lanes.iter().filter(|lane| usize::from(lane.0) < self.by_lane.len());
        let merge = Merge::new(known.map(|lane| self.lane_range(lane, after)).collect());
        merge
            .take_while(move |position| *position <= until)
            .filter_map(|position| Some((position, self.rows.get(&position)?)))
    }

    fn lane_range(&self, lane: Lane, after: Position) -> btree_set::Range<'_, Position> {
        self.by_lane[usize::from(lane.0)].range((Bound::Excluded(after), Bound::Unbounded))
    }
}

/// Topic and idempotency key, if the event has one.
pub(super) fn idempotency(event: &Event) -> Option<Pair> {
    event.idempotency_key.as_ref().map(|key| (event.topic.clone(), key.clone()))
}

/// Several ordered ranges of positions as one.
struct Merge<'a> {
    ranges: Vec<btree_set::Range<'a, Position>>,
    heads: BinaryHeap<Reverse<(Position, usize)>>,
}

impl<'a> Merge<'a> {
    fn new(mut ranges: Vec<btree_set::Range<'a, Position>>) -> Self {
        let heads = ranges.iter_mut().enumerate();
        let heads = heads.filter_map(|(index, range)| Some(Reverse((*range.next()?, index)))).collect();
        Self { ranges, heads }
    }
}

impl Iterator for Merge<'_> {
    type Item = Position;

    fn next(&mut self) -> Option<Position> {
        let Reverse((position, index)) = self.heads.pop()?;
        if let Some(next) = self.ranges[index].next() {
            self.heads.push(Reverse((*next, index)));
        }
        Some(position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merges_lanes_in_position_order() {
        let lanes: [&[i64]; 3] = [&[1, 4, 9], &[], &[2, 3, 10]];
        let sets = lanes.map(|lane| lane.iter().copied().map(Position).collect::<BTreeSet<_>>());

        let merged: Vec<i64> =
            Merge::new(sets.iter().map(|set| set.range(..)).collect()).map(|position| position.0).collect();

        assert_eq!(merged, [1, 2, 3, 4, 9, 10]);
    }
}
