//! Listings: events with their status, and dead letters, a page at a time.

use super::{MemoryStore, SubscriptionRow, dead::DeadRow, events::Row};
use crate::{
    DeadFilter, DeadLetter, Error, EventFilter, EventSummary, Paged, Payload, Position, Result, Timestamp,
    oversized,
};

/// How many rows a page has if nothing is said, and how many at most.
const PAGE: u32 = 50;
const MAX_PAGE: u32 = 1_000;

impl MemoryStore {
    /// Events with their status, newest first.
    pub fn list(&self, now: Timestamp, filter: &EventFilter) -> Result<Paged<EventSummary>> {
        if filter.status.is_some() && filter.subscription.is_none() {
            return Err(Error::invalid("a status is asked for, but no subscription in which to have it"));
        }
        let subscriptions: Vec<(&str, &SubscriptionRow)> = match &filter.subscription {
            Some(name) => vec![(name.as_str(), self.subscription(name)?)],
            None => self.subscriptions.iter().map(|(name, row)| (name.as_str(), row)).collect(),
        };
        let rows = self.log.newest_first(filter.cursor.map(Position)).filter(|(_, row)| fits(row, filter));
        let summaries = rows.map(|(position, row)| self.summary(now, &subscriptions, position, row));
        let wanted = summaries.filter(|summary| {
            filter.status.is_none_or(|word| summary.statuses.iter().any(|status| status.status == word))
        });
        Ok(page(wanted, filter.limit, |summary| summary.position.0))
    }

    /// Dead letters, oldest first.
    #[must_use]
    pub fn dead(&self, filter: &DeadFilter) -> Paged<DeadLetter> {
        let rows = self.dead.after(filter.cursor).filter(|(_, row)| row.fits(filter));
        let wanted = rows.filter(|(_, row)| filter.resolved || row.resolved.is_none());
        page(wanted.map(|(dead_id, row)| self.letter(dead_id, row)), filter.limit, |letter| letter.dead_id)
    }

    fn letter(&self, dead_id: i64, row: &DeadRow) -> DeadLetter {
        DeadLetter {
            dead_id,
            subscription: row.subscription.clone(),
            position: row.position,
            id: row.event.id,
            event_type: row.event.event_type.to_string(),
            topic: row.event.topic.clone(),
            key: row.event.key.clone(),
            payload: self.payload_text(&row.event.payload),
            reason: row.reason,
            error: row.error.clone(),
            attempts: row.attempts,
            moved_at: row.moved_at,
            holds: row.holds,
            resolution: row.resolved.as_ref().map(|resolved| resolved.how.to_owned()),
            resolved_at: row.resolved.as_ref().map(|resolved| resolved.at),
            resolved_by: row.resolved.as_ref().map(|resolved| resolved.by.clone()),
            new_id: row.new_id,
        }
    }

    /// The payload as text; bytes that are not text as hexadecimal digits, and what is over the limit as what is wrong with it.
    pub(super) fn payload_text(&self, payload: &Payload) -> String {
        if payload.len() > self.payload_limit {
            return format!("({})", oversized(payload.len(), self.payload_limit));
        }
        match std::str::from_utf8(payload.as_bytes()) {
            Ok(text) => text.to_owned(),
            Err(_) => payload.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect(),
        }
    }

    pub(super) fn summary(
        &self,
        now: Timestamp,
        subscriptions: &[(&str, &SubscriptionRow)],
        position: Position,
        row: &Row,
    ) -> EventSummary {
        let statuses = subscriptions.iter().map(|named| self.event_status(now, *named, (position, row)));
        EventSummary {
            position,
            id: row.event.id,
            event_type: row.event.event_type.to_string(),
            topic: row.event.topic.clone(),
            key: row.event.key.clone(),
            lane: row.lane,
            created_at: row.created_at,
            statuses: statuses.collect(),
        }
    }
}

fn fits(row: &Row, filter: &EventFilter) -> bool {
    filter.event_type.as_ref().is_none_or(|name| **name == *row.event.event_type)
        && filter.topic.as_ref().is_none_or(|topic| *topic == row.event.topic)
        && filter.key.as_ref().is_none_or(|key| row.event.key.as_ref() == Some(key))
}

/// One page of what is wanted. The next one begins where this ends, if there is anything left.
fn page<T>(wanted: impl Iterator<Item = T>, limit: u32, place: impl Fn(&T) -> i64) -> Paged<T> {
    let limit = if limit == 0 { PAGE } else { limit.min(MAX_PAGE) };
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut items: Vec<T> = wanted.take(limit + 1).collect();
    let more = items.len() > limit;
    items.truncate(limit);
    let next = items.last().filter(|_| more).map(place);
    Paged { items, next }
}
