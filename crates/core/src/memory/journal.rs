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
}

/// All rows that are still there, oldest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Journal(VecDeque<JournalRow>);

impl Journal {
    pub(super) fn write(&mut self, row: JournalRow) {
        self.0.push_back(row);
    }

    /// What happened to the event at this position.
    pub(super) fn of(&self, position: Position) -> impl Iterator<Item = &JournalRow> {
        self.0.iter().filter(move |row| row.position == Some(position))
    }

    /// Removes the oldest row if it is older than this.
    pub(super) fn prune_one(&mut self, before: Timestamp) -> bool {
        let prunable = self.0.front().is_some_and(|row| row.at < before);
        if prunable {
            self.0.pop_front();
        }
        prunable
    }
}
