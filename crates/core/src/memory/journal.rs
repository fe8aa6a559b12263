//! What was not a plain success, and what operators did.

use std::collections::VecDeque;

use crate::{Position, Timestamp};

#[derive(Clone, Debug)]
pub(super) struct JournalRow {
    pub(super) at: Timestamp,
    pub(super) subscription: Option<String>,
    /// None for what concerns a subscription as a whole.
    pub(super) position: Option<Position>,
    pub(super) what: &'static str,
    pub(super) attempt: Option<u32>,
    pub(super) detail: Option<String>,
    /// The relay or the operator.
    pub(super) by: String,
    /// How many an act of an operator concerned; none for everything else.
    pub(super) concerned: Option<u64>,
}

/// All rows that are still there, oldest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Journal {
    rows: VecDeque<JournalRow>,
    pruned: i64,
}

impl Journal {
    pub(super) fn write(&mut self, row: JournalRow) {
        self.rows.push_back(row);
    }

    /// What operators did, newest first, each with its number.
    pub(super) fn acts(&self) -> impl Iterator<Item = (i64, &JournalRow, u64)> {
        let number = |index: usize| self.pruned.saturating_add(i64::try_from(index).unwrap_or(i64::MAX)) + 1;
        let rows = self.rows.iter().enumerate().rev();
        rows.filter_map(move |(index, row)| Some((number(index), row, row.concerned?)))
    }

    /// What happened to the event at this position.
    pub(super) fn of(&self, position: Position) -> impl Iterator<Item = &JournalRow> {
        self.rows.iter().filter(move |row| row.position == Some(position))
    }

    /// Removes the oldest row if it is older than this.
    pub(super) fn prune_one(&mut self, before: Timestamp) -> bool {
        let prunable = self.rows.front().is_some_and(|row| row.at < before);
        if prunable {
            self.rows.pop_front();
            self.pruned += 1;
        }
        prunable
    }
}
