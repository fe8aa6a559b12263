//! Events as people see them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{check_page, check_span, check_texts};
use crate::{Error, EventId, Lane, Position, Result, Timestamp};

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
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Pending,
        Self::Processing,
        Self::Failed,
        Self::Delivered,
        Self::Dead,
        Self::Delayed,
        Self::Skipped,
    ];

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

/// In which order events are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sort {
    /// By position, the last one first.
    #[default]
    NewestFirst,
    /// In the order of the log, as the events of one key are best read.
    OldestFirst,
}

/// Which events to list. What is not set does not matter; what is set must all fit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EventFilter {
    /// As this subscription sees them; required if a status is asked for.
    pub subscription: Option<String>,
    /// Only those with this status; they come newest first.
    pub status: Option<StatusWord>,
    /// Only of this type.
    pub event_type: Option<String>,
    /// Only of this topic.
    pub topic: Option<String>,
    /// Only of this key.
    pub key: Option<String>,
    /// Only of aggregates of this type.
    pub aggregate_type: Option<String>,
    /// Only of aggregates with this id.
    pub aggregate_id: Option<String>,
    /// Only of this tenant.
    pub tenant_id: Option<String>,
    /// Only what was written at this time or later.
    pub created_after: Option<Timestamp>,
    /// Only what was written before this time.
    pub created_before: Option<Timestamp>,
    /// In which order.
    pub sort: Sort,
    /// Where the last page ended.
    pub cursor: Option<i64>,
    /// How many at most; 50 if 0, and 1,000 is the most.
    pub limit: u32,
}

impl EventFilter {
    /// Says what is wrong with the filter.
    pub fn validate(&self) -> Result<()> {
        if self.status.is_some() && self.subscription.is_none() {
            return Err(Error::invalid("a status is asked for, but no subscription in which to have it"));
        }
        if self.status.is_some() && self.sort == Sort::OldestFirst {
            return Err(Error::invalid("events with a status are listed newest first only"));
        }
        check_page(self.cursor, self.limit)?;
        check_span(self.created_after, self.created_before)?;
        check_texts([
            ("the subscription", &self.subscription),
            ("the type", &self.event_type),
            ("the topic", &self.topic),
            ("the key", &self.key),
            ("the type of the aggregate", &self.aggregate_type),
            ("the id of the aggregate", &self.aggregate_id),
            ("the tenant", &self.tenant_id),
        ])
    }
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
    /// The version of its type.
    pub event_version: String,
    /// Its topic.
    pub topic: String,
    /// Its key.
    pub key: Option<String>,
    /// Its lane.
    pub lane: Lane,
    /// The type of its aggregate.
    pub aggregate_type: Option<String>,
    /// The id of its aggregate.
    pub aggregate_id: Option<String>,
    /// Its number in the aggregate.
    pub version: Option<i64>,
    /// Its tenant.
    pub tenant_id: Option<String>,
    /// What it belongs to.
    pub correlation_id: Option<String>,
    /// When it happened.
    pub occurred_at: Timestamp,
    /// When it was written.
    pub created_at: Timestamp,
    /// Before this time it is not delivered.
    pub deliver_after: Option<Timestamp>,
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
    /// The first event of its key that it has to wait for: one that is parked, or a dead letter that holds the key. Only for what is
    /// pending or failed.
    pub blocked_by: Option<Position>,
}

/// One event and what happened to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timeline {
    /// The event, with its status everywhere.
    pub event: EventSummary,
    /// Its payload as text; bytes that are not text are shown as hexadecimal digits.
    pub payload: String,
    /// Its headers.
    pub headers: BTreeMap<String, String>,
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

impl TimelineItem {
    /// The event was published.
    #[must_use]
    pub fn published(at: Timestamp) -> Self {
        let what = "published".to_owned();
        Self { at, subscription: None, what, attempt: None, detail: None, by: None }
    }

    /// A plain success, as the line says that passed the event.
    #[must_use]
    pub fn delivered(subscription: &str, at: Timestamp, by: Option<String>) -> Self {
        let (subscription, what) = (Some(subscription.to_owned()), "delivered".to_owned());
        Self { at, subscription, what, attempt: Some(1), detail: None, by }
    }

    /// Whether the journal tells of this delivery: then the line that passed the event only parked it.
    #[must_use]
    pub fn is_told_by(&self, journal: &[Self]) -> bool {
        let told = |item: &Self| item.what == "delivered" && item.subscription == self.subscription;
        journal.iter().any(|item| told(item) && item.at >= self.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_that_cannot_be_meant_is_refused() {
        let any = EventFilter::default;
        let sub = || Some("billing".to_owned());
        for bad in [
            EventFilter { status: Some(StatusWord::Dead), ..any() },
            EventFilter {
                subscription: sub(),
                status: Some(StatusWord::Dead),
                sort: Sort::OldestFirst,
                ..any()
            },
            EventFilter { limit: 1_001, ..any() },
            EventFilter { cursor: Some(-3), ..any() },
            EventFilter { tenant_id: Some("a\0b".to_owned()), ..any() },
            EventFilter { created_after: Some(Timestamp(5)), created_before: Some(Timestamp(5)), ..any() },
        ] {
            assert!(bad.validate().is_err(), "{bad:?}");
        }
        assert!(EventFilter { subscription: sub(), sort: Sort::OldestFirst, ..any() }.validate().is_ok());
    }
}
