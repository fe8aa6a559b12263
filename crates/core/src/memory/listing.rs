//! Listings: events with their status, dead letters, and what operators did, a page at a time.

use std::{cmp::Reverse, collections::BTreeMap};

use super::{MemoryStore, SubscriptionRow, dead::DeadRow, events::Row};
use crate::{
    AuditEntry, AuditFilter, DeadFilter, DeadGroup, DeadLetter, EventFilter, EventSummary, MAX_GROUPS, Paged,
    Payload, Position, Result, Sort, Timestamp, error_line, oversized, page_size,
};

impl MemoryStore {
    /// Events with their status.
    pub fn list(&self, now: Timestamp, filter: &EventFilter) -> Result<Paged<EventSummary>> {
        filter.validate()?;
        let subscriptions: Vec<(&str, &SubscriptionRow)> = match &filter.subscription {
            Some(name) => vec![(name.as_str(), self.subscription(name)?)],
            None => self.subscriptions.iter().map(|(name, row)| (name.as_str(), row)).collect(),
        };
        let cursor = filter.cursor.map(Position);
        let rows: Box<dyn Iterator<Item = (Position, &Row)>> = match filter.sort {
            Sort::NewestFirst => Box::new(self.log.newest_first(cursor)),
            Sort::OldestFirst => Box::new(self.log.oldest_first(cursor)),
        };
        let fitting = rows.filter(|(_, row)| fits(row, filter));
        let summaries = fitting.map(|(position, row)| self.summary(now, &subscriptions, position, row));
        let wanted = summaries.filter(|summary| {
            filter.status.is_none_or(|word| summary.statuses.iter().any(|status| status.status == word))
        });
        page(wanted, filter.limit, |summary| summary.position.0)
    }

    /// Dead letters, oldest first.
    pub fn dead(&self, filter: &DeadFilter) -> Result<Paged<DeadLetter>> {
        filter.validate()?;
        let named = |id: i64| filter.dead_id.is_none_or(|wanted| wanted == id);
        let rows = self.dead.after(filter.cursor).filter(|(id, row)| named(*id) && row.fits(filter));
        let any = filter.resolved || filter.dead_id.is_some();
        let wanted = rows.filter(|(_, row)| any || row.resolved.is_none());
        page(wanted.map(|(dead_id, row)| self.letter(dead_id, row)), filter.limit, |letter| letter.dead_id)
    }

    /// Unresolved dead letters by what they died of, the largest groups first.
    pub fn dead_groups(&self, filter: &DeadFilter) -> Result<Vec<DeadGroup>> {
        filter.validate()?;
        let mut groups: BTreeMap<_, DeadGroup> = BTreeMap::new();
        for (_, row) in self.dead.matching(filter) {
            let key = (&row.subscription, row.reason, row.event.event_type.clone(), error_line(&row.error));
            let group = groups.entry(key).or_insert_with(|| row.group());
            group.count += 1;
            group.first_at = group.first_at.min(row.moved_at);
            group.last_at = group.last_at.max(row.moved_at);
        }
        let mut groups: Vec<DeadGroup> = groups.into_values().collect();
        groups.sort_by_key(|group| (Reverse(group.count), Reverse(group.last_at)));
        groups.truncate(MAX_GROUPS);
        Ok(groups)
    }

    /// What operators did, newest first.
    pub fn audit(&self, filter: &AuditFilter) -> Result<Paged<AuditEntry>> {
        filter.validate()?;
        let entries = self.journal.acts().map(|(number, row, concerned)| AuditEntry {
            number,
            at: row.at,
            by: row.by.clone(),
            what: row.what.to_owned(),
            subscription: row.subscription.clone(),
            concerned,
            detail: row.detail.clone(),
        });
        let wanted = entries.filter(|entry| {
            filter.cursor.is_none_or(|cursor| entry.number < cursor)
                && filter.by.as_ref().is_none_or(|by| *by == entry.by)
                && filter.what.as_ref().is_none_or(|what| *what == entry.what)
                && filter.subscription.as_ref().is_none_or(|name| entry.subscription.as_ref() == Some(name))
        });
        page(wanted, filter.limit, |entry| entry.number)
    }

    fn letter(&self, dead_id: i64, row: &DeadRow) -> DeadLetter {
        let event = &row.event;
        DeadLetter {
            dead_id,
            subscription: row.subscription.clone(),
            position: row.position,
            id: event.id,
            event_type: event.event_type.to_string(),
            topic: event.topic.clone(),
            key: event.key.clone(),
            aggregate_type: event.aggregate_type.as_ref().map(ToString::to_string),
            aggregate_id: event.aggregate_id.clone(),
            tenant_id: event.tenant_id.clone(),
            content_type: event.payload.content_type().to_owned(),
            payload: self.payload_text(&event.payload),
            headers: event.headers.clone(),
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
        let event = &row.event;
        EventSummary {
            position,
            id: event.id,
            event_type: event.event_type.to_string(),
            event_version: event.event_version.to_string(),
            topic: event.topic.clone(),
            key: event.key.clone(),
            lane: row.lane,
            aggregate_type: event.aggregate_type.as_ref().map(ToString::to_string),
            aggregate_id: event.aggregate_id.clone(),
            version: event.version,
            tenant_id: event.tenant_id.clone(),
            correlation_id: event.correlation_id.clone(),
            occurred_at: event.occurred_at,
            created_at: row.created_at,
            deliver_after: event.deliver_after,
            statuses: statuses.collect(),
        }
    }
}

impl DeadRow {
    /// A group that has nobody in it yet.
    fn group(&self) -> DeadGroup {
        DeadGroup {
            subscription: self.subscription.clone(),
            reason: self.reason,
            event_type: self.event.event_type.to_string(),
            error: error_line(&self.error).to_owned(),
            count: 0,
            first_at: self.moved_at,
            last_at: self.moved_at,
        }
    }
}

fn fits(row: &Row, filter: &EventFilter) -> bool {
    let event = &row.event;
    let is = |wanted: &Option<String>, has: Option<&str>| {
        wanted.as_ref().is_none_or(|wanted| has == Some(wanted.as_str()))
    };
    is(&filter.event_type, Some(&event.event_type))
        && is(&filter.topic, Some(&event.topic))
        && is(&filter.key, event.key.as_deref())
        && is(&filter.aggregate_type, event.aggregate_type.as_deref())
        && is(&filter.aggregate_id, event.aggregate_id.as_deref())
        && is(&filter.tenant_id, event.tenant_id.as_deref())
        && filter.created_after.is_none_or(|time| row.created_at >= time)
        && filter.created_before.is_none_or(|time| row.created_at < time)
}

/// One page of what is wanted. The next one begins where this ends, if there is anything left.
fn page<T>(wanted: impl Iterator<Item = T>, limit: u32, place: impl Fn(&T) -> i64) -> Result<Paged<T>> {
    let size = page_size(limit)?;
    Ok(Paged::of(wanted.take(size + 1).collect(), size, place, None))
}
