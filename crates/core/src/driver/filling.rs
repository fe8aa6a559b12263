//! Pages that fill up.

use crate::{Entry, Limit, Position};

/// A page that fills up to its limit. The first entry fits whatever its size.
pub struct Filling {
    limit: Limit,
    /// What fitted.
    pub entries: Vec<Entry>,
    /// The size of all of them.
    pub bytes: usize,
    /// Whether something was left for the next page.
    pub more: bool,
}

impl Filling {
    /// An empty page.
    #[must_use]
    pub fn new(limit: Limit) -> Self {
        Self { limit, entries: Vec::new(), bytes: 0, more: false }
    }

    /// The position of the last entry, or that before the first if there is none.
    #[must_use]
    pub fn last(&self) -> Position {
        self.entries.last().map(|entry| entry.position).unwrap_or_default()
    }

    /// Whether the entry still fitted.
    pub fn take(&mut self, entry: Entry) -> bool {
        let bytes = self.bytes.saturating_add(entry.size());
        self.more = self.entries.len() >= self.limit.entries
            || (bytes > self.limit.bytes && !self.entries.is_empty());
        if !self.more {
            self.bytes = bytes;
            self.entries.push(entry);
        }
        !self.more
    }
}
