//! One event with all that happened to it: the journal, and for plain successes the line of their batch.

use super::{MemoryStore, SubscriptionRow, chain::Passing, events::Row};
use crate::{
    Error, ErrorKind, EventId, EventStatus, Position, Result, StatusWord, Timeline, TimelineItem, Timestamp,
};

impl MemoryStore {
    /// One event with its status in each subscription and all that happened to it. An event that was sent again under
    /// another id is found by both.
    pub fn show(&self, now: Timestamp, id: EventId) -> Result<Timeline> {
        let position = self.log.find(id).or_else(|| self.dead.find_new(id));
        let Some((position, row)) = position.and_then(|position| Some((position, self.log.get(position)?)))
        else {
            return Err(Error::new(ErrorKind::NotFound, format!("event {id} is not in the log")));
        };
        let subscriptions: Vec<_> =
            self.subscriptions.iter().map(|(name, row)| (name.as_str(), row)).collect();
        let event = self.summary(now, &subscriptions, position, row);
        let items = self.items(position, row, &event.statuses);
        let payload = self.payload_text(&row.event.payload);
        Ok(Timeline { event, payload, headers: row.event.headers.clone(), items })
    }

    fn items(&self, position: Position, row: &Row, statuses: &[EventStatus]) -> Vec<TimelineItem> {
        let mut items = vec![TimelineItem {
            at: row.created_at,
            subscription: None,
            what: "published".to_owned(),
            attempt: None,
            detail: None,
            by: None,
        }];
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
            .filter(|plain| !is_told(&items, plain))
            .collect();
        items.extend(plain);
        items.sort_by_key(|item| item.at);
        items
    }
}

/// Whether the journal tells of the delivery: then the line that passed the event only parked it.
fn is_told(items: &[TimelineItem], plain: &TimelineItem) -> bool {
    let told = |item: &TimelineItem| item.what == "delivered" && item.subscription == plain.subscription;
    items.iter().any(|item| told(item) && item.at >= plain.at)
}

/// A success that the journal does not tell of: the line that passed the event says when and by whom.
fn plain_success(
    name: &str,
    subscription: &SubscriptionRow,
    position: Position,
    row: &Row,
) -> Option<TimelineItem> {
    let Passing::By(line) = subscription.chain(row.lane).passing(position) else { return None };
    Some(TimelineItem {
        at: line.at,
        subscription: Some(name.to_owned()),
        what: "delivered".to_owned(),
        attempt: Some(1),
        detail: None,
        by: line.relay.as_ref().map(|relay| relay.0.clone()),
    })
}
