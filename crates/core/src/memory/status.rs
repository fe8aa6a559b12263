//! The state of the log and of each subscription, and the one word for an event in a subscription.

use super::{MemoryStore, SubscriptionRow, chain::Passing, events::Row, parked::ParkedRow};
use crate::{ActKind, EventStatus, Lane, Position, Status, StatusWord, SubscriptionStatus, Timestamp};

/// The layout of this store; it has no migrations.
const SCHEMA_VERSION: i64 = 1;

impl MemoryStore {
    /// The state of the log and of every subscription.
    #[must_use]
    pub fn status(&self, now: Timestamp) -> Status {
        let sizes = self.log.newest_first(None).map(|(_, row)| row.event.payload.len());
        Status {
            schema_version: SCHEMA_VERSION,
            lanes: self.lanes,
            events: count(self.log.len()),
            bytes: count(sizes.sum()),
            relays: count(self.relays.values().filter(|relay| relay.held_until >= now).count()),
            subscriptions: self
                .subscriptions
                .iter()
                .map(|(name, row)| self.subscription_status(now, name, row))
                .collect(),
        }
    }

    fn subscription_status(&self, now: Timestamp, name: &str, row: &SubscriptionRow) -> SubscriptionStatus {
        let parked = || row.parked.rows().map(|(_, parked)| parked);
        let delayed = parked().filter(|parked| parked_word(parked, now) == StatusWord::Delayed).count();
        let lines = row.chains.iter().flat_map(|chain| chain.lines());
        SubscriptionStatus {
            name: name.to_owned(),
            paused: row.paused,
            pending: count(self.ahead(row).count()),
            failed: count(parked().count() - delayed),
            delayed: count(delayed),
            dead: count(self.dead.unresolved(name).count()),
            delivered: lines.map(|line| u64::from(line.delivered)).sum(),
            lanes_held: count(self.live_holders(row, now).count()),
            oldest_age_seconds: self.oldest(row, now).map(|created_at| now.since(created_at).as_secs_f64()),
        }
    }

    /// The positions ahead of the cursors.
    fn ahead<'a>(&'a self, row: &'a SubscriptionRow) -> impl Iterator<Item = Position> + 'a {
        let lanes = (0..self.lanes).map(Lane).zip(&row.chains);
        lanes.flat_map(|(lane, chain)| self.log.of_lane(lane, chain.cursor().after))
    }

    /// When the oldest event was written that is pending or failed.
    fn oldest(&self, row: &SubscriptionRow, now: Timestamp) -> Option<Timestamp> {
        let failed = row.parked.rows().filter(|(_, parked)| parked_word(parked, now) == StatusWord::Failed);
        let waiting = self.ahead(row).chain(failed.map(|(position, _)| position));
        waiting.filter_map(|position| Some(self.log.get(position)?.created_at)).min()
    }

    /// How an event stands in one subscription: exactly one word.
    pub(super) fn event_status(
        &self,
        now: Timestamp,
        (name, row): (&str, &SubscriptionRow),
        (position, event): (Position, &Row),
    ) -> EventStatus {
        let dead = self.dead.latest(name, position);
        let given_up =
            dead.filter(|dead| dead.resolved.as_ref().is_none_or(|resolved| resolved.how == "discarded"));
        let mut status = EventStatus {
            subscription: name.to_owned(),
            status: StatusWord::Pending,
            attempts: dead.map_or(0, |dead| dead.attempts),
            last_error: dead.map(|dead| dead.error.clone()),
            due_at: None,
        };
        if let Some(parked) = row.parked.get(position) {
            status.status = parked_word(parked, now);
            status.attempts = parked.attempts;
            status.last_error.clone_from(&parked.last_error);
            status.due_at = Some(parked.due_at);
        } else {
            status.status = match given_up {
                // Given up for good is still dead; only what goes ahead of the cursor again begins anew.
                Some(_) if row.chain(event.lane).cursor().has_passed(position) => StatusWord::Dead,
                _ => row.log_word(position, event),
            };
        }
        status
    }
}

impl SubscriptionRow {
    /// The word for an event that is neither parked nor dead.
    fn log_word(&self, position: Position, event: &Row) -> StatusWord {
        let passing = self.chain(event.lane).passing(position);
        if !self.filter.matches(&event.event) {
            return StatusWord::Skipped;
        }
        match passing {
            Passing::Ahead => StatusWord::Pending,
            // Nobody delivered it: the cursor began behind it, or was moved over it.
            Passing::By(line) if line.kind == ActKind::Reset => StatusWord::Skipped,
            Passing::Forgotten if position <= self.start => StatusWord::Skipped,
            Passing::By(_) | Passing::Forgotten => StatusWord::Delivered,
        }
    }
}

/// The word for a parked event. One that was delayed and is due now waits like any other that is parked.
fn parked_word(parked: &ParkedRow, now: Timestamp) -> StatusWord {
    if parked.is_in_the_way(now) { StatusWord::Failed } else { StatusWord::Delayed }
}

pub(super) fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
