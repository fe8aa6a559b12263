//! Publishing: what a transaction has added so far, and its commit.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::{
    MemoryStore,
    events::{Pair, Row, idempotency},
    lanes::lane_of,
};
use crate::{Error, ErrorKind, Event, EventId, Position, Published, Result, Spot, Timestamp, driver::refuse};

/// What an open transaction has added. Nobody else sees it, and dropping it undoes it.
#[derive(Debug, Default)]
pub(super) struct Staging {
    /// The last position of the log when the first event was added.
    base: Option<Position>,
    rows: Vec<Row>,
    ids: BTreeSet<EventId>,
    idempotent: BTreeMap<Pair, usize>,
    sequences: BTreeMap<Pair, i64>,
}

impl Staging {
    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

impl MemoryStore {
    /// Publishes these events as one committed transaction, all of them or, on an error, none.
    pub fn publish(&mut self, now: Timestamp, events: Vec<Event>) -> Result<Vec<Published>> {
        let mut staging = Staging::default();
        let published =
            events.into_iter().map(|event| self.stage(&mut staging, now, event)).collect::<Result<_>>()?;
        self.commit(staging)?;
        Ok(published)
    }

    /// Adds one event to an open transaction.
    pub(super) fn stage(&self, staging: &mut Staging, now: Timestamp, mut event: Event) -> Result<Published> {
        let base = *staging.base.get_or_insert(self.log.last());
        let pair = idempotency(&event);
        // Before a number is drawn: a duplicate must not leave a gap in its aggregate.
        if let Some(first) = pair.as_ref().and_then(|pair| self.first_of(staging, base, pair)) {
            return Ok(first);
        }
        if self.log.find(event.id).is_some() || !staging.ids.insert(event.id) {
            return Err(refuse::id_is_used(event.id));
        }
        if event.draw_version {
            event.version = Some(self.draw(staging, &event)?);
            event.draw_version = false;
        }
        if let Some(pair) = pair {
            staging.idempotent.insert(pair, staging.rows.len());
        }
        let lane = lane_of(&event, self.lanes);
        let row = Row { event: Arc::new(event), lane, created_at: now, defect: None };
        let published = describe(place(base, staging.rows.len()), &row);
        staging.rows.push(row);
        Ok(published)
    }

    /// Makes what was staged part of the log.
    pub(super) fn commit(&mut self, staging: Staging) -> Result<()> {
        // The answers named positions, so they must still be the next ones.
        if staging.base.is_some_and(|base| base != self.log.last()) {
            return Err(Error::new(ErrorKind::Unavailable, "commit: somebody else has published meanwhile"));
        }
        for row in staging.rows {
            self.log.push(row);
        }
        for (aggregate, last) in staging.sequences {
            self.log.set_sequence(aggregate, last);
        }
        Ok(())
    }

    fn first_of(&self, staging: &Staging, base: Position, pair: &Pair) -> Option<Published> {
        let first = match staging.idempotent.get(pair) {
            Some(&index) => describe(place(base, index), &staging.rows[index]),
            None => {
                let position = self.log.find_idempotent(pair)?;
                describe(position, self.log.get(position)?)
            }
        };
        Some(Published { duplicate: true, ..first })
    }

    fn draw(&self, staging: &mut Staging, event: &Event) -> Result<i64> {
        let Some(id) = &event.aggregate_id else {
            return Err(refuse::no_aggregate(event.id));
        };
        let aggregate = (event.aggregate_type.as_deref().unwrap_or_default().to_owned(), id.clone());
        let stored = self.log.sequence(&aggregate);
        let last = staging.sequences.entry(aggregate).or_insert(stored);
        *last += 1;
        Ok(*last)
    }
}

fn place(base: Position, index: usize) -> Position {
    Position(base.0 + 1 + i64::try_from(index).unwrap_or(i64::MAX))
}

fn describe(position: Position, row: &Row) -> Published {
    let spot = Some(Spot { position, lane: row.lane });
    Published { id: row.event.id, spot, version: row.event.version, duplicate: false }
}
