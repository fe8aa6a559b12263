//! The operator's side. CLI, API and dashboard use only this.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{DeadReason, EventId, Lane, Position, Result, Timestamp};

/// What an operator can ask and do.
#[async_trait]
pub trait Admin: Send + Sync + 'static {
    /// The state of the log and of every subscription.
    async fn status(&self) -> Result<Status>;

    /// Events with their status in one subscription, newest first, a page at a time.
    async fn list(&self, filter: &EventFilter) -> Result<Paged<EventSummary>>;

    /// One event with its status in each subscription and all that happened to it.
    async fn show(&self, id: EventId) -> Result<Timeline>;

    /// Dead letters, oldest first, a page at a time.
    async fn dead(&self, filter: &DeadFilter) -> Result<Paged<DeadLetter>>;

    /// Does something to a subscription or to dead letters, and answers how many of them it concerned.
    async fn act(&self, act: &Act, by: &str) -> Result<u64>;
}

/// Something an operator does. Each is written into the journal with who did it.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    /// Send dead letters again, to the one subscription in which they died, in their order.
    Replay(Selection),
    /// Send one dead letter again with another payload or other headers, under a new id.
    Edit {
        /// The dead letter.
        dead_id: i64,
        /// What to change.
        edit: Edit,
        /// The id of the new event.
        new_id: EventId,
    },
    /// Give dead letters up for good. A key that they hold goes on.
    Discard(Selection),
    /// Stop a subscription; its lanes are given back.
    Pause(String),
    /// Let a paused subscription go on.
    Resume(String),
    /// Move the cursor of a paused subscription whose lanes nobody holds.
    Reset {
        /// The subscription.
        subscription: String,
        /// Where to.
        to: ResetTo,
    },
    /// Remove a subscription with its cursors and everything parked; dead letters stay.
    Drop(String),
}

/// Where to move a cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResetTo {
    /// To the beginning of what is retained.
    Beginning,
    /// Past everything that is committed.
    Now,
    /// So that this event is the next one.
    Position(Position),
}

/// Which dead letters are meant.
#[derive(Clone, Debug, PartialEq)]
pub enum Selection {
    /// These.
    Ids(Vec<i64>),
    /// All unresolved ones that fit the filter, whatever its page says.
    Matching(DeadFilter),
}

/// What to change of a dead letter before it is sent again.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Edit {
    /// The new payload, as text.
    pub payload: Option<String>,
    /// The new headers, all of them.
    pub headers: Option<std::collections::BTreeMap<String, String>>,
    /// The new topic.
    pub topic: Option<String>,
}

/// The words in which people see the state of an event in a subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StatusWord {
    /// Ahead of the cursor.
    Pending,
    /// Pending, and read by a live holder.
    Processing,
    /// Parked for a retry, or behind one.
    Failed,
    /// Delivered.
    Delivered,
    /// A dead letter.
    Dead,
    /// Not due yet.
    Delayed,
    /// The filter or the start of the subscription excludes it.
    Skipped,
}

impl StatusWord {
    /// The word as it is stored and shown.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            StatusWord::Pending => "pending",
            StatusWord::Processing => "processing",
            StatusWord::Failed => "failed",
            StatusWord::Delivered => "delivered",
            StatusWord::Dead => "dead",
            StatusWord::Delayed => "delayed",
            StatusWord::Skipped => "skipped",
        }
    }
}

/// The state of the log.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// The version of the tables.
    pub schema_version: i64,
    /// The number of lanes.
    pub lanes: u8,
    /// How many events the log holds, delivered ones included.
    pub events: u64,
    /// How many bytes its tables take.
    pub bytes: u64,
    /// Live relays.
    pub relays: u64,
    /// Each subscription, by name.
    pub subscriptions: Vec<SubscriptionStatus>,
}

/// The state of one subscription.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SubscriptionStatus {
    /// Its name.
    pub name: String,
    /// Whether an operator has paused it.
    pub paused: bool,
    /// Events ahead of the cursor (those that the filter will skip included).
    pub pending: u64,
    /// Events parked for a retry or behind one.
    pub failed: u64,
    /// Events that are not due yet.
    pub delayed: u64,
    /// Unresolved dead letters.
    pub dead: u64,
    /// Deliveries that its lines tell of.
    pub delivered: u64,
    /// Lanes that a live relay holds.
    pub lanes_held: u64,
    /// How old the oldest event is that is pending or failed, in seconds.
    pub oldest_age_seconds: Option<f64>,
}

/// Which events to list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EventFilter {
    /// As this subscription sees them; required if a status is asked for.
    pub subscription: Option<String>,
    /// Only those with this status.
    pub status: Option<StatusWord>,
    /// Only of this type.
    pub event_type: Option<String>,
    /// Only of this topic.
    pub topic: Option<String>,
    /// Only of this key.
    pub key: Option<String>,
    /// Where the last page ended.
    pub cursor: Option<i64>,
    /// How many at most; 50 if 0, and never over 1,000.
    pub limit: u32,
}

/// Which dead letters to list or to act on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeadFilter {
    /// Only of this subscription.
    pub subscription: Option<String>,
    /// Only for this reason.
    pub reason: Option<DeadReason>,
    /// Only of this event type.
    pub event_type: Option<String>,
    /// Only of this key.
    pub key: Option<String>,
    /// Also those that were replayed or discarded.
    pub resolved: bool,
    /// Where the last page ended.
    pub cursor: Option<i64>,
    /// How many at most; 50 if 0, and never over 1,000.
    pub limit: u32,
}

/// One page of a listing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Paged<T> {
    /// What is on it.
    pub items: Vec<T>,
    /// Where the next page begins, if there is one.
    pub next: Option<i64>,
}

/// An event in a listing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EventSummary {
    /// Its place in the log.
    pub position: Position,
    /// Its id.
    pub id: EventId,
    /// Its type.
    pub event_type: String,
    /// Its topic.
    pub topic: String,
    /// Its key.
    pub key: Option<String>,
    /// Its lane.
    pub lane: Lane,
    /// When it was written.
    pub created_at: Timestamp,
    /// Its status in each subscription that was asked for.
    pub statuses: Vec<EventStatus>,
}

/// The status of an event in one subscription.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EventStatus {
    /// The subscription.
    pub subscription: String,
    /// The status.
    pub status: StatusWord,
    /// Failed deliveries so far.
    pub attempts: u32,
    /// The last failure.
    pub last_error: Option<String>,
    /// When it is tried again.
    pub due_at: Option<Timestamp>,
}

/// One event and what happened to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timeline {
    /// The event, with its status everywhere.
    pub event: EventSummary,
    /// Its payload as text; bytes that are not text are shown as hexadecimal digits.
    pub payload: String,
    /// Its headers.
    pub headers: std::collections::BTreeMap<String, String>,
    /// What happened, in order.
    pub items: Vec<TimelineItem>,
}

/// Something that happened to an event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimelineItem {
    /// When.
    pub at: Timestamp,
    /// In which subscription; none for what concerns the event as such.
    pub subscription: Option<String>,
    /// What: `published`, `delivered`, `failed`, `dead`, `replayed`, `edited`, `discarded`.
    pub what: String,
    /// Which attempt it was.
    pub attempt: Option<u32>,
    /// The error, or what an operator did.
    pub detail: Option<String>,
    /// Which relay or which operator.
    pub by: Option<String>,
}

/// A dead letter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeadLetter {
    /// Its own number.
    pub dead_id: i64,
    /// The subscription in which it died.
    pub subscription: String,
    /// Its place in the log.
    pub position: Position,
    /// The event's id.
    pub id: EventId,
    /// The event's type.
    pub event_type: String,
    /// The event's topic.
    pub topic: String,
    /// The event's key.
    pub key: Option<String>,
    /// The payload as text.
    pub payload: String,
    /// Why it was given up.
    pub reason: DeadReason,
    /// The last failure.
    pub error: String,
    /// How many deliveries failed.
    pub attempts: u32,
    /// When it died.
    pub moved_at: Timestamp,
    /// Whether its key waits for a person.
    pub holds: bool,
    /// What a person did: `replayed`, `edited`, `discarded`; none if nothing yet.
    pub resolution: Option<String>,
    /// When.
    pub resolved_at: Option<Timestamp>,
    /// Who.
    pub resolved_by: Option<String>,
    /// The id under which it was sent again, if that is another.
    pub new_id: Option<EventId>,
}
