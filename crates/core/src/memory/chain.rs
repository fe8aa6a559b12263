//! The lines of one lane of one subscription: numbered without gaps, the last one says cursor and holder.

use std::collections::VecDeque;

use crate::{Act, ActKind, Cursor, Position, RelayId, Timestamp};

/// One line of a lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its number.
    pub n: i64,
    /// What was done.
    pub kind: ActKind,
    /// Who did it; nobody if it was the beginning or an operator.
    pub relay: Option<RelayId>,
    /// How far the lane is settled after it.
    pub cursor: Cursor,
    /// How many entries were delivered.
    pub delivered: u32,
    /// When it was written.
    pub at: Timestamp,
}

impl Line {
    /// Whether this line is that act of that relay. The relay's name alone does not say so: with an old census in hand
    /// it may ask for another act under the same number.
    fn is(&self, relay: &RelayId, act: &Act) -> bool {
        self.relay.as_ref() == Some(relay)
            && (self.n, self.kind, &self.cursor, self.delivered)
                == (act.n, act.kind, &act.cursor, act.delivered)
    }
}

/// The lines of one lane.
#[derive(Clone, Debug)]
pub(super) struct Chain {
    /// The number with which it began.
    first: i64,
    /// Those that are still there.
    lines: VecDeque<Line>,
}

/// What the chain answers to an act.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Link {
    /// The line went in: its changes are to be applied.
    Added,
    /// The last line is this very act: its changes are applied already, and only the answer was lost.
    Repeated,
    /// The number is taken by somebody else, or does not follow on the last line.
    Fenced,
}

/// Which line moved the cursor past a position.
#[derive(Debug, PartialEq)]
pub(super) enum Passing<'a> {
    /// None: the position is ahead of the cursor.
    Ahead,
    /// This one.
    By(&'a Line),
    /// A line that was pruned since.
    Forgotten,
}

impl Chain {
    /// A chain whose first line has this number.
    pub(super) fn begin(n: i64, cursor: Cursor, now: Timestamp) -> Self {
        let first = Line { n, kind: ActKind::Reset, relay: None, cursor, delivered: 0, at: now };
        Self { first: n, lines: VecDeque::from([first]) }
    }

    pub(super) fn lines(&self) -> impl Iterator<Item = &Line> {
        self.lines.iter()
    }

    pub(super) fn last(&self) -> Option<&Line> {
        self.lines.back()
    }

    /// How far the lane is settled; a lane without lines has settled nothing.
    pub(super) fn cursor(&self) -> Cursor {
        self.last().map(|line| line.cursor.clone()).unwrap_or_default()
    }

    /// Appends the act as a line, if its number is the next one.
    pub(super) fn link(&mut self, relay: &RelayId, act: &Act, now: Timestamp) -> Link {
        match self.last() {
            Some(last) if last.n + 1 == act.n => {}
            Some(last) if last.is(relay, act) => return Link::Repeated,
            _ => return Link::Fenced,
        }
        self.lines.push_back(Line {
            n: act.n,
            kind: act.kind,
            relay: Some(relay.clone()),
            cursor: act.cursor.clone(),
            delivered: act.delivered,
            at: now,
        });
        Link::Added
    }

    /// Appends the line of an operator's reset.
    pub(super) fn reset(&mut self, cursor: Cursor, now: Timestamp) {
        let n = self.last().map_or(self.first, |last| last.n + 1);
        self.lines.push_back(Line { n, kind: ActKind::Reset, relay: None, cursor, delivered: 0, at: now });
    }

    /// The line that moved the cursor past the position for the last time.
    pub(super) fn passing(&self, position: Position) -> Passing<'_> {
        let passed = self.lines.iter().rev().take_while(|line| line.cursor.has_passed(position)).count();
        let Some(line) = self.lines.get(self.lines.len() - passed) else { return Passing::Ahead };
        // If the oldest line has passed it already, an older one may have done so, unless there never was one.
        if passed == self.lines.len() && line.n > self.first { Passing::Forgotten } else { Passing::By(line) }
    }

    /// Removes the oldest line if it is older than this and not the last.
    pub(super) fn prune_one(&mut self, before: Timestamp) -> bool {
        let prunable = self.lines.len() > 1 && self.lines.front().is_some_and(|line| line.at < before);
        if prunable {
            self.lines.pop_front();
        }
        prunable
    }

    pub(super) fn clear(&mut self) {
        self.lines.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Lane;

    fn act(n: i64, after: i64) -> Act {
        let cursor = Cursor::at(Position(after));
        Act { lane: Lane(0), n, kind: ActKind::Settled, cursor, delivered: 1, changes: Vec::new() }
    }

    #[test]
    fn finds_the_line_that_passed_a_position_across_resets() {
        let relay = RelayId("r".to_owned());
        let mut chain = Chain::begin(1, Cursor::default(), Timestamp(0));
        assert_eq!(chain.link(&relay, &act(2, 10), Timestamp(1)), Link::Added);
        chain.reset(Cursor::at(Position(5)), Timestamp(2));
        assert_eq!(chain.link(&relay, &act(4, 20), Timestamp(3)), Link::Added);

        let passing = |position| match chain.passing(Position(position)) {
            Passing::By(line) => line.n,
            Passing::Ahead => 0,
            Passing::Forgotten => -1,
        };
        assert_eq!([passing(3), passing(7), passing(20), passing(21)], [2, 4, 4, 0]);
        assert!(chain.prune_one(Timestamp(9)) && chain.prune_one(Timestamp(9)));
        assert_eq!(chain.passing(Position(3)), Passing::Forgotten);
    }
}
