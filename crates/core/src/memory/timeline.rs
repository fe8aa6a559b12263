//! One event with all that happened to it: the journal, and for plain successes the line of their batch.

use super::{MemoryStore, SubscriptionRow, chain::Passing, events::Row};
use crate::{
    EventId, EventStatus, Position, Result, StatusWord, Timeline, TimelineItem, Timestamp, driver::refuse,
};

impl MemoryStore {
    /// One event with its status in each subscription and all that happened to it. An event that was sent again under
    /// another id is found by both.
    pub fn show(&self, now: Timestamp, id: EventId) -> Result<Timeline> {
        let position = self.log.find(id).or_else(|| self.dead.find_new(id));
        let Some((position, row)) = position.and_then(|position| Some((position, self.log.get(position)?)))
        else {
            return Err(refuse::no_event(id));
        };
        let subscriptions: Vec<_> =
            self.subscriptions.iter().map(|(name, row)| (name.as_str(), row)).collect();
        let event = self.summary(now, &subscriptions, position, row);
        let items = self.items(position, row, &event.statuses);
        let payload = self.payload_text(&row.event.payload);
        Ok(Timeline { event, payload, headers: row.event.headers.clone(), items })
    }

    fn items(&self, position: Position, row: &Row, statuses: &[EventStatus]) -> Vec<TimelineItem> {
        let mut items = vec![TimelineItem::published(row.created_at)];
        items.extend(self.journal.of(position).map(|row| TimelineItem {
            at: row.at,
            subscription: row.subscription.clone(),
            what: row.what.to_owned(),
            attempt: row.attempt,
            detail: row.detail.clone(),
            by: Some(row.by.clone()),
        }));
        let delivered = statuses.iter().filter(|status| status.status == StatusWord::Delivered);
        let plain: Vec<_> = delivered
            .filter_map(|status| self.subscriptions.get_key_value(&status.subscription))
            .filter_map(|(name, subscription)| plain_success(name, subscription, position, row))
            .filter(|plain| !plain.is_told_by(&items))
            .collect();
        items.extend(plain);
        items.sort_by_key(|item| item.at);
        items
    }
}

/// A success that the journal does not tell of: the line that passed the event says when and by whom.
fn plain_success(
    name: &str,
    subscription: &SubscriptionRow,
    position: Position,
    row: &Row,
) -> Option<TimelineItem> {
    let Passing::By(line) = subscription.chain(row.lane).passing(position) else { return None };
    Some(TimelineItem::delivered(name, line.at, line.relay.as_ref().map(|relay| relay.0.clone())))
}
