//! The relay's side of a log: hold lanes, read entries, append lines.
//!
//! A lane of a subscription is a chain of numbered lines. Each act on it appends line n + 1 or does nothing: who
//! finds the number taken has been overtaken. The last line says how far the lane is settled and who holds it.

use std::{fmt, time::Duration};

use async_trait::async_trait;
use futures_util::stream::BoxStream;
use serde::{Deserialize, Serialize};

use crate::{
    Capabilities, Cursor, DeadReason, Entry, Event, Lane, LaneSet, Position, Result, Subscription, Timestamp,
    Upkeep,
};

/// What the relay needs of a database.
#[async_trait]
pub trait Log: Upkeep {
    /// What this log can do.
    fn capabilities(&self) -> Capabilities;

    /// Creates the subscription with a first line for every lane, in one transaction, or finds it. If its filter or
    /// order is stored differently, stores it and begins a new generation.
    async fn subscribe(&self, subscription: &Subscription) -> Result<Subscribed>;

    /// Enrols the relay or renews its lease, removes relays whose lease is over, and tells how the lanes stand.
    async fn hold(&self, lease: &Lease) -> Result<Hold>;

    /// Reads entries behind a cursor and parked entries that are due, in one snapshot.
    async fn read(&self, read: &Read) -> Result<Page>;

    /// Appends one line for each act, with all its changes, or nothing of that act. Acts that were already applied by
    /// this relay answer `Done` again, so that an append whose answer was lost can be repeated. An act whose cursor stands on
    /// something that is gone (see [`Page::void`]) is `Fenced`.
    ///
    /// An error of the kind `Unavailable` says nothing about the acts. Any other says that the database refuses something of them (a
    /// constraint, a trigger) and that none took effect: the relay then asks for each by itself, to find out which.
    async fn append(&self, subscription: &str, relay: &RelayId, acts: &[Act]) -> Result<Vec<Appended>>;

    /// Removes the relay's row, so that others need not wait for its lease to end.
    async fn leave(&self, relay: &RelayId) -> Result<()>;

    /// Rings when something may have been committed by anybody.
    fn doorbell(&self) -> BoxStream<'static, ()>;
}

/// Names one life of one relay. A relay that lost its lease starts again under a new id.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RelayId(pub String);

impl fmt::Display for RelayId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A subscription as the log has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subscribed {
    /// Counts the changes of its filter and order.
    pub generation: i64,
}

/// A relay asks for a lease, or for a longer one.
#[derive(Clone, Debug)]
pub struct Lease {
    /// Who asks.
    pub relay: RelayId,
    /// On which machine it runs.
    pub host: String,
    /// The version of the program.
    pub version: String,
    /// The subscriptions it serves.
    pub subscriptions: Vec<String>,
    /// For how long, from now, by the database's clock.
    pub time: Duration,
    /// Whether it asks for the first time: then its row is made. Renewing a row that is gone fails.
    pub first: bool,
}

/// The answer to a [`Lease`].
#[derive(Clone, Debug)]
pub enum Hold {
    /// The lease is good for its time from when it was asked for.
    Alive(Census),
    /// The relay's row is gone: somebody may have its lanes. It must drop them and start again under a new id.
    Lost,
}

/// How the lanes stand, seen in the transaction of the renewal.
#[derive(Clone, Debug, Default)]
pub struct Census {
    /// One for each subscription that the relay serves and the log knows.
    pub subscriptions: Vec<SubscriptionCensus>,
    /// Whether no other relay has a row, whatever it serves. Not known, and so not said, where there is no subscription.
    pub alone: bool,
}

/// How the lanes of one subscription stand.
#[derive(Clone, Debug)]
pub struct SubscriptionCensus {
    /// Its name.
    pub name: String,
    /// Its generation as stored.
    pub generation: i64,
    /// Whether an operator has paused it.
    pub paused: bool,
    /// How many live relays serve it, the asking one included.
    pub relays: u32,
    /// The last line of every lane, in lane order.
    pub lanes: Vec<LaneCensus>,
}

/// The last line of a lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneCensus {
    /// The lane.
    pub lane: Lane,
    /// The number of its last line.
    pub n: i64,
    /// How far it is settled.
    pub cursor: Cursor,
    /// No event beyond this position can have been read by anybody yet.
    pub seen: Position,
    /// Who holds it, if that relay is alive.
    pub holder: Option<RelayId>,
    /// Whether something of it is parked, or held dead.
    pub troubled: bool,
}

/// What to read.
#[derive(Clone, Debug, PartialEq)]
pub struct Read {
    /// For which subscription.
    pub subscription: String,
    /// As which generation of it.
    pub generation: i64,
    /// Whether unresolved dead letters stop their key.
    pub hold_dead: bool,
    /// The lanes to read from the log; none reads only what is parked.
    pub lanes: LaneSet,
    /// Where they stand.
    pub after: Cursor,
    /// Where to stop at the latest.
    pub until: Option<Cursor>,
    /// The lanes whose due parked entries are wanted.
    pub parked: LaneSet,
    /// How much at most, of each kind.
    pub limit: Limit,
}

/// A bound in entries and in bytes. The first entry is read whatever its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// How many entries.
    pub entries: usize,
    /// How many bytes.
    pub bytes: usize,
}

/// What was read, in one snapshot.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// Entries of the log, in position order.
    pub entries: Vec<Entry>,
    /// Where the page begins: in the window that was asked for, or in a new one. Its entries are done one by one from here.
    pub start: Cursor,
    /// Every asked lane has been read up to here.
    pub end: Cursor,
    /// Whether the limit, and not the log, ended the page.
    pub more: bool,
    /// Parked entries that may go, in position order: due, and nothing of their key before them that is not here.
    pub parked: Vec<Entry>,
    /// All lanes of the subscription with something parked or held dead.
    pub troubled: LaneSet,
    /// How long until something that is parked in an asked lane falls due.
    pub next_due: Option<Duration>,
    /// No event beyond this position has been read by this page or any before it.
    pub seen: Position,
    /// The subscription is paused or of another generation: ask for a census before going on.
    pub stale: bool,
    /// What the cursor stands on is gone, because the database has crashed and gives the same numbers out again: everything that
    /// was read is void, and the lanes are to be taken again from their last lines.
    pub void: bool,
}

/// One act on one lane. It becomes the lane's line `n`, with all its changes, or nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Act {
    /// The lane.
    pub lane: Lane,
    /// The number of the new line: one more than the last line known.
    pub n: i64,
    /// What is done.
    pub kind: ActKind,
    /// How far the lane is settled after it.
    pub cursor: Cursor,
    /// How many entries were delivered.
    pub delivered: u32,
    /// What changes besides.
    pub changes: Vec<Change>,
}

/// The kinds of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActKind {
    /// A relay holds the lane from now on.
    Taken,
    /// Its holder has settled entries.
    Settled,
    /// Its holder holds it no more.
    GivenBack,
    /// An operator has moved the cursor; nobody holds it.
    Reset,
}

impl ActKind {
    /// The kind as it is stored.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            ActKind::Taken => "taken",
            ActKind::Settled => "settled",
            ActKind::GivenBack => "given_back",
            ActKind::Reset => "reset",
        }
    }

    /// The kind that is stored as this text.
    #[must_use]
    pub fn of(text: &str) -> Option<Self> {
        let all = [ActKind::Taken, ActKind::Settled, ActKind::GivenBack, ActKind::Reset];
        all.into_iter().find(|kind| kind.as_str() == text)
    }

    /// Whether the relay of such a line holds the lane after it.
    #[must_use]
    pub fn holds(self) -> bool {
        matches!(self, ActKind::Taken | ActKind::Settled)
    }
}

/// What a settlement changes besides the cursor.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// Park the event, or park it again.
    Park(Box<Parked>),
    /// A parked event was delivered.
    Unpark(Position),
    /// The event is a dead letter now, and parked no more.
    Bury(Box<Buried>),
}

/// An event to be parked.
#[derive(Clone, Debug, PartialEq)]
pub struct Parked {
    /// Its place in the log.
    pub position: Position,
    /// A copy of it.
    pub event: Event,
    /// How many deliveries of it have failed.
    pub attempts: u32,
    /// When it may go.
    pub due: Due,
    /// The failure that parked it; none if it only waits behind another, or for its time.
    pub error: Option<String>,
    /// How long the failed delivery took.
    pub took: Duration,
}

/// When a parked event may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// This long from now, by the database's clock.
    In(Duration),
    /// At this time; until then it does not block its key.
    Delayed(Timestamp),
}

/// An event that becomes a dead letter.
#[derive(Clone, Debug, PartialEq)]
pub struct Buried {
    /// Its place in the log.
    pub position: Position,
    /// A copy of it.
    pub event: Event,
    /// How many deliveries of it have failed.
    pub attempts: u32,
    /// Why it was given up.
    pub reason: DeadReason,
    /// The last failure.
    pub error: String,
    /// Whether its key waits for a person.
    pub holds: bool,
    /// How long the failed delivery took.
    pub took: Duration,
}

/// What became of an act.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Appended {
    /// The line is there, with all its changes.
    Done,
    /// The number was taken by somebody else: the lane is lost, and nothing was changed.
    Fenced,
}
