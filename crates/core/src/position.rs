//! Where an event stands: its position in the log, its lane, and the cursor that passes it.

use std::{cmp::Ordering, fmt, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::Event;

/// An event's place in the log. Never used twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Position(pub i64);

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// One of the fixed parts of the log; all events of one key are in one lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Lane(pub u8);

impl fmt::Display for Lane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// No log has more lanes than this, so that a set of lanes is one machine word.
pub const MAX_LANES: u8 = 64;

/// A set of lanes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaneSet(u64);

impl LaneSet {
    /// The set without lanes.
    pub const EMPTY: LaneSet = LaneSet(0);

    /// The lanes `0..count`.
    #[must_use]
    pub fn first(count: u8) -> Self {
        (0..count.min(MAX_LANES)).map(Lane).collect()
    }

    /// Adds a lane.
    pub fn insert(&mut self, lane: Lane) {
        self.0 |= 1 << lane.0;
    }

    /// The set without this lane.
    #[must_use]
    pub fn without(self, lane: Lane) -> Self {
        Self(self.0 & !(1 << lane.0))
    }

    /// Whether the lane is in the set.
    #[must_use]
    pub fn contains(self, lane: Lane) -> bool {
        self.0 >> lane.0 & 1 == 1
    }

    /// Whether no lane is in the set.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many lanes are in the set.
    #[must_use]
    pub fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// The lanes in order.
    pub fn iter(self) -> impl Iterator<Item = Lane> {
        (0..MAX_LANES).map(Lane).filter(move |lane| self.contains(*lane))
    }

    /// The set as a bit mask, lane 0 in the lowest bit: what a database compares with.
    #[must_use]
    pub fn mask(self) -> i64 {
        self.0.cast_signed()
    }

    /// The lanes whose bits are set in a number of the database's.
    #[must_use]
    pub fn from_mask(mask: i64) -> Self {
        Self(mask.cast_unsigned())
    }
}

impl FromIterator<Lane> for LaneSet {
    fn from_iter<I: IntoIterator<Item = Lane>>(lanes: I) -> Self {
        let mut set = LaneSet::EMPTY;
        set.extend(lanes);
        set
    }
}

impl Extend<Lane> for LaneSet {
    fn extend<I: IntoIterator<Item = Lane>>(&mut self, lanes: I) {
        lanes.into_iter().for_each(|lane| self.insert(lane));
    }
}

/// Which transactions a log sees at one moment. Logs whose positions are handed out before their transactions commit are read
/// in windows between two snapshots; others need none. A later snapshot has a higher number.
#[derive(Clone, Default)]
pub struct Snapshot(Option<Arc<Taken>>);

struct Taken {
    number: i64,
    text: Box<str>,
    incarnation: Option<u128>,
}

impl Snapshot {
    /// A snapshot that the log keeps under this number, as the database writes it.
    pub fn kept(number: i64, text: impl Into<Box<str>>) -> Self {
        Self(Some(Arc::new(Taken { number, text: text.into(), incarnation: None })))
    }

    /// A snapshot that was just taken and is not kept yet. It means something only as long as the database has not crashed: one
    /// that has is in another incarnation.
    pub fn fresh(number: i64, text: impl Into<Box<str>>, incarnation: u128) -> Self {
        Self(Some(Arc::new(Taken { number, text: text.into(), incarnation: Some(incarnation) })))
    }

    /// Its number; 0 for the one that sees nothing, before all others.
    #[must_use]
    pub fn number(&self) -> i64 {
        self.0.as_ref().map_or(0, |taken| taken.number)
    }

    /// In which incarnation of the database it was taken; nothing if it outlives them.
    #[must_use]
    pub fn incarnation(&self) -> Option<u128> {
        self.0.as_ref().and_then(|taken| taken.incarnation)
    }

    /// As the database writes it; nothing for the one that sees nothing.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        self.0.as_ref().map(|taken| &*taken.text)
    }
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.number(), self.text().unwrap_or("-"))
    }
}

impl PartialEq for Snapshot {
    fn eq(&self, other: &Self) -> bool {
        self.number() == other.number()
    }
}

impl Eq for Snapshot {}

impl PartialOrd for Snapshot {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Snapshot {
    fn cmp(&self, other: &Self) -> Ordering {
        self.number().cmp(&other.number())
    }
}

/// How far a subscription has settled, or read, a lane: everything that `from` sees, and of what only `to` sees everything up to
/// and including `after`. (Without snapshots, simply everything up to `after`.)
///
/// The order of the fields is the order of cursors: of two windows with the same end, the one that begins later has less left.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cursor {
    /// The end of the window that is being read.
    pub to: Snapshot,
    /// Its beginning. The same as its end if the window is done: then `after` only tells the highest position so far.
    pub from: Snapshot,
    /// The last position that is done.
    pub after: Position,
}

impl Cursor {
    /// The cursor that has passed this position, in a log without windows.
    #[must_use]
    pub fn at(position: Position) -> Self {
        Self { after: position, ..Self::default() }
    }

    /// The cursor in the same window that has passed this position.
    #[must_use]
    pub fn moved_to(&self, position: Position) -> Self {
        Self { after: position, ..self.clone() }
    }

    /// Whether this position is done, in a log without windows.
    #[must_use]
    pub fn has_passed(&self, position: Position) -> bool {
        position <= self.after
    }
}

/// From which table an entry was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Read from the log, ahead of the cursor.
    Log,
    /// Read from what was parked.
    Parked,
}

/// An event in the log, as one subscription sees it.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its place in the log.
    pub position: Position,
    /// Its lane.
    pub lane: Lane,
    /// The event itself.
    pub event: Event,
    /// Where it was read.
    pub origin: Origin,
    /// How many deliveries of it to this subscription have failed so far.
    pub attempts: u32,
    /// An earlier event of its key is parked or held dead, so that it has to wait (said by the log, in the
    /// snapshot of the read).
    pub blocked: bool,
    /// It is not due yet by the database's clock.
    pub delayed: bool,
    /// The row could not be understood: why. Such an entry is never sent.
    pub defect: Option<String>,
}

impl Entry {
    /// Roughly what the entry takes in memory, for bounds in bytes.
    #[must_use]
    pub fn size(&self) -> usize {
        ENTRY_OVERHEAD
            + self.event.payload.len()
            + self.event.headers.iter().map(|(k, v)| k.len() + v.len()).sum::<usize>()
    }
}

/// What an entry takes besides payload and headers: the structs and the short texts.
const ENTRY_OVERHEAD: usize = 640;
