//! Which window to read next: decided here, without a database.
//!
//! A window is what one snapshot sees and an earlier one does not. A lane moves through windows one after the other; lanes of a relay
//! that stand in the same one are read together. See `docs/decisions/0004-snapshots.md`.

use posthaste_core::{Cursor, Position, Snapshot};

/// The window in which the next page is, and what of it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Window {
    /// Everything that this sees is done.
    pub(crate) from: Snapshot,
    /// The end; nothing for a new one that ends now.
    pub(crate) to: Option<Snapshot>,
    /// Of the window everything up to here is done.
    pub(crate) after: Position,
    /// Where others wait in the same window.
    pub(crate) until: Option<Position>,
}

impl Window {
    /// The window for lanes that stand at `after`, while others stand at `until` already.
    pub(crate) fn next(after: &Cursor, until: Option<&Cursor>) -> Self {
        if after.from != after.to {
            let same = until.filter(|until| until.from == after.from && until.to == after.to);
            return Self {
                from: after.from.clone(),
                to: Some(after.to.clone()),
                after: after.after,
                until: same.map(|until| until.after),
            };
        }
        let done = &after.to;
        // Before the first window a cursor may be a position and nothing else.
        let start = if done.number() == 0 { after.after } else { Position(0) };
        let to_now = Self { from: done.clone(), to: None, after: start, until: None };
        match until {
            None => to_now,
            // The others are in the window that follows: join them there.
            Some(until) if until.from == *done && until.to != until.from => {
                Self { to: Some(until.to.clone()), until: Some(until.after), ..to_now }
            }
            Some(until) if until.to.number() == 0 => Self { until: Some(until.after), ..to_now },
            // The others are in a later window: first to its beginning.
            Some(until) if until.from > *done => Self { to: Some(until.from.clone()), ..to_now },
            // This lane has a part of the others' window behind it: to its end, and they will come.
            Some(until) if until.to > *done => Self { to: Some(until.to.clone()), ..to_now },
            Some(_) => to_now,
        }
    }

    /// Where a page of this window begins, once its end is known.
    pub(crate) fn start(&self, to: &Snapshot) -> Cursor {
        Cursor { to: to.clone(), from: self.from.clone(), after: self.after }
    }
}

/// What the database says of a window: where its events are.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Bounds {
    pub(crate) first: Option<i64>,
    pub(crate) last: Option<i64>,
    /// Transactions that were under way at its beginning and are not any more, as the database writes a list of them.
    pub(crate) late: Option<String>,
}

impl Bounds {
    pub(crate) fn is_empty(&self) -> bool {
        self.first.is_none() && self.late.is_none()
    }
}

/// What is remembered of the windows of one subscription, so that it need not be asked again. Nothing here is needed.
#[derive(Default)]
pub(crate) struct Memory {
    known: Vec<Known>,
    empty: Option<Empty>,
    /// How large entries are, about.
    size: usize,
}

/// A window, and its bounds.
struct Known {
    from: Snapshot,
    to: Snapshot,
    bounds: Bounds,
    /// In which incarnation of the server: a crash may take numbers of snapshots back, and then another window has this one's.
    incarnation: u128,
}

/// Behind a snapshot nothing was there when another one was taken.
#[derive(Clone)]
pub(crate) struct Empty {
    /// The number of the first.
    behind: i64,
    /// The other one.
    pub(crate) text: String,
    /// In which incarnation of the server: in another the same text means something else.
    pub(crate) incarnation: u128,
}

/// One for the lanes at the front, a few for those that are behind.
const KEPT: usize = 8;

impl Memory {
    /// The bounds of a window, and in which incarnation of the server they were found.
    pub(crate) fn bounds(&self, from: &Snapshot, to: &Snapshot) -> Option<(Bounds, u128)> {
        let known = self.known.iter().find(|known| known.from == *from && known.to == *to)?;
        Some((known.bounds.clone(), known.incarnation))
    }

    pub(crate) fn remember(&mut self, from: &Snapshot, to: &Snapshot, bounds: &Bounds, incarnation: u128) {
        self.known.retain(|known| known.from != *from || known.to != *to);
        if self.known.len() == KEPT {
            self.known.remove(0);
        }
        let (from, to, bounds) = (from.clone(), to.clone(), bounds.clone());
        self.known.push(Known { from, to, bounds, incarnation });
    }

    pub(crate) fn nothing_behind(&self, from: &Snapshot) -> Option<&Empty> {
        self.empty.as_ref().filter(|empty| empty.behind == from.number())
    }

    pub(crate) fn remember_empty(&mut self, from: &Snapshot, text: String, incarnation: u128) {
        self.empty = Some(Empty { behind: from.number(), text, incarnation });
    }

    /// How many rows make a page of so many bytes. What is asked for has to be received, also what does not fit any more.
    pub(crate) fn rows_for(&self, entries: usize, bytes: usize) -> i64 {
        let fitting = bytes.checked_div(self.size).map_or(entries, |rows| rows + rows / 4 + 1);
        i64::try_from(entries.min(fitting)).unwrap_or(i64::MAX).saturating_add(1)
    }

    pub(crate) fn measured(&mut self, entries: usize, bytes: usize) {
        if let Some(size) = bytes.checked_div(entries) {
            self.size = if size > self.size { size } else { (self.size * 7 + size) / 8 };
        }
    }
}

/// `X:X:` for a snapshot `xmin:X:…`: what it does not see is what came after the snapshot was taken.
pub(crate) fn barrier(from: &Snapshot) -> String {
    let xmax = from.text().and_then(|text| text.split(':').nth(1)).unwrap_or("1");
    format!("{xmax}:{xmax}:")
}

/// How the database writes the snapshot that sees nothing.
pub(crate) const NOTHING: &str = "1:1:";

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(number: i64) -> Snapshot {
        if number == 0 {
            Snapshot::default()
        } else {
            Snapshot::kept(number, format!("{number}0:{number}9:"))
        }
    }

    fn cursor(from: i64, to: i64, after: i64) -> Cursor {
        Cursor { from: snapshot(from), to: snapshot(to), after: Position(after) }
    }

    fn next(after: Cursor, until: Option<Cursor>) -> (i64, Option<i64>, i64, Option<i64>) {
        let window = Window::next(&after, until.as_ref());
        (
            window.from.number(),
            window.to.map(|to| to.number()),
            window.after.0,
            window.until.map(|until| until.0),
        )
    }

    #[test]
    fn a_window_is_read_to_its_end_and_then_the_next_one_is_opened() {
        assert_eq!(next(cursor(3, 5, 40), None), (3, Some(5), 40, None));
        assert_eq!(next(cursor(5, 5, 90), None), (5, None, 0, None));
        assert_eq!(next(cursor(0, 0, 0), None), (0, None, 0, None));
        assert_eq!(next(cursor(0, 0, 7), None), (0, None, 7, None), "a position before the first window");
    }

    #[test]
    fn a_lane_behind_joins_the_others() {
        let others = || Some(cursor(5, 8, 70));

        assert_eq!(next(cursor(5, 8, 20), others()), (5, Some(8), 20, Some(70)), "in the same window");
        assert_eq!(next(cursor(2, 3, 20), others()), (2, Some(3), 20, None), "its own window first");
        assert_eq!(next(cursor(5, 5, 20), others()), (5, Some(8), 0, Some(70)), "at the beginning of theirs");
        assert_eq!(next(cursor(3, 3, 20), others()), (3, Some(5), 0, None), "to the beginning of theirs");
        assert_eq!(next(cursor(6, 6, 20), others()), (6, Some(8), 0, None), "to the end of theirs");
        assert_eq!(next(cursor(3, 3, 20), Some(cursor(8, 8, 0))), (3, Some(8), 0, None), "theirs is done");
        assert_eq!(
            next(cursor(9, 9, 20), others()),
            (9, None, 0, None),
            "it is ahead, whatever the numbers say"
        );
    }

    #[test]
    fn the_size_of_what_came_decides_how_much_is_asked_for() {
        let mut memory = Memory::default();
        assert_eq!(memory.rows_for(1_000, 1 << 20), 1_001);

        memory.measured(10, 10 << 20);
        assert_eq!(memory.rows_for(1_000, 8 << 20), 12);

        (0..100).for_each(|_| memory.measured(1_000, 1_000 * 700));
        assert_eq!(memory.rows_for(1_000, 8 << 20), 1_001);
    }

    #[test]
    fn the_barrier_is_the_end_of_the_snapshot() {
        assert_eq!(barrier(&Snapshot::kept(1, "743:760:743,751")), "760:760:");
        assert_eq!(barrier(&Snapshot::default()), NOTHING);
    }
}
