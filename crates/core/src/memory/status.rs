//! The state of the log, of each subscription and of each lane, and the one word for an event in a subscription.

use std::time::Duration;

use super::{
    MemoryStore, SubscriptionRow,
    chain::{Chain, Passing},
    events::Row,
    parked::ParkedRow,
};
use crate::{
    ActKind, Event, EventStatus, Lane, LaneStatus, Order, Position, RelayId, RelayStatus, Result, Status,
    StatusWord, SubscriptionStatus, Timestamp,
};

/// The layout of this store; it has no migrations.
const SCHEMA_VERSION: i64 = 1;
const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(60 * 60);

impl MemoryStore {
    /// The state of the log and of every subscription.
    #[must_use]
    pub fn status(&self, now: Timestamp) -> Status {
        let sizes = self.log.newest_first(None).map(|(_, row)| row.event.payload.len());
        Status {
            now,
            schema_version: SCHEMA_VERSION,
            lanes: self.lanes,
            events: count(self.log.len()),
            events_estimated: false,
            bytes: count(sizes.sum()),
            orphaned: self.orphaned(),
            relays: self.relay_statuses(now),
            subscriptions: self
                .subscriptions
                .iter()
                .map(|(name, row)| self.subscription_status(now, name, row))
                .collect(),
            jobs: self.jobs.latest(),
        }
    }

    /// Events in lanes that some subscription has lost the lines of.
    fn orphaned(&self) -> u64 {
        let is_lost = |lane: &Lane| self.subscriptions.values().any(|row| row.chain(*lane).last().is_none());
        let lost = (0..self.lanes).map(Lane).filter(is_lost);
        count(lost.map(|lane| self.log.of_lane(lane, Position(0)).count()).sum())
    }

    fn relay_statuses(&self, now: Timestamp) -> Vec<RelayStatus> {
        let lanes = |relay: &RelayId| {
            let rows = self.subscriptions.values();
            count(rows.flat_map(|row| self.live_holders(row, now)).filter(|holder| *holder == relay).count())
        };
        let live = self.relays.iter().filter(|(_, row)| row.held_until >= now);
        live.map(|(relay, row)| RelayStatus {
            relay: relay.clone(),
            host: row.host.clone(),
            version: row.version.clone(),
            subscriptions: row.subscriptions.clone(),
            started_at: row.started_at,
            held_until: row.held_until,
            lanes: lanes(relay),
        })
        .collect()
    }

    fn subscription_status(&self, now: Timestamp, name: &str, row: &SubscriptionRow) -> SubscriptionStatus {
        let parked = || row.parked.rows().map(|(_, parked)| parked);
        let failed = || parked().filter(|parked| parked.is_in_the_way(now));
        let lines = || row.chains.iter().flat_map(|chain| chain.lines());
        let delivered = |since: Timestamp| {
            lines().filter(|line| line.at >= since).map(|line| u64::from(line.delivered)).sum()
        };
        let dead = self.dead.after(None).filter(|(_, dead)| dead.subscription == name);
        let age = |created_at: Option<Timestamp>| created_at.map(|time| now.since(time).as_secs_f64());
        let (pending, failing) = (self.oldest_pending(row), self.oldest_failed(row, now));
        SubscriptionStatus {
            name: name.to_owned(),
            paused: row.paused,
            pending: count(self.ahead(row).count()),
            pending_estimated: false,
            failed: count(failed().count()),
            behind: count(failed().filter(|parked| parked.last_error.is_none()).count()),
            delayed: count(parked().count() - failed().count()),
            dead: count(self.dead.unresolved(name).count()),
            dead_last_hour: count(dead.filter(|(_, dead)| dead.moved_at >= now.before(HOUR)).count()),
            delivered: delivered(Timestamp(i64::MIN)),
            delivered_last_minute: delivered(now.before(MINUTE)),
            lanes_held: count(self.live_holders(row, now).count()),
            moved_at: lines().map(|line| line.at).max(),
            oldest_age_seconds: age([pending, failing].into_iter().flatten().min()),
            oldest_failed_seconds: age(failing),
        }
    }

    /// How the lanes of one subscription stand.
    pub fn lane_statuses(&self, now: Timestamp, name: &str) -> Result<Vec<LaneStatus>> {
        let row = self.subscription(name)?;
        let lanes = (0..self.lanes).map(Lane).zip(&row.chains);
        Ok(lanes.map(|(lane, chain)| self.lane_status(now, lane, chain)).collect())
    }

    fn lane_status(&self, now: Timestamp, lane: Lane, chain: &Chain) -> LaneStatus {
        let last = chain.last();
        let holder = last.filter(|line| line.kind.holds()).and_then(|line| line.relay.as_ref());
        let settled = chain.cursor().after;
        let ahead = || self.log.of_lane(lane, settled);
        let oldest = ahead().filter_map(|position| Some(self.log.get(position)?.created_at)).min();
        LaneStatus {
            lane,
            n: last.map_or(0, |line| line.n),
            kind: last.map(|line| line.kind),
            at: last.map(|line| line.at),
            holder: holder.filter(|relay| self.is_live(relay, now)).cloned(),
            settled,
            pending: count(ahead().count()),
            pending_estimated: false,
            oldest_age_seconds: oldest.map(|created_at| now.since(created_at).as_secs_f64()),
        }
    }

    /// The positions ahead of the cursors.
    fn ahead<'a>(&'a self, row: &'a SubscriptionRow) -> impl Iterator<Item = Position> + 'a {
        let lanes = (0..self.lanes).map(Lane).zip(&row.chains);
        lanes.flat_map(|(lane, chain)| self.log.of_lane(lane, chain.cursor().after))
    }

    /// When the oldest event was written that is pending.
    fn oldest_pending(&self, row: &SubscriptionRow) -> Option<Timestamp> {
        self.ahead(row).filter_map(|position| Some(self.log.get(position)?.created_at)).min()
    }

    /// When the oldest event was written that is failed.
    fn oldest_failed(&self, row: &SubscriptionRow, now: Timestamp) -> Option<Timestamp> {
        let failed = row.parked.rows().filter(|(_, parked)| parked.is_in_the_way(now));
        failed.filter_map(|(position, _)| Some(self.log.get(position)?.created_at)).min()
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
            blocked_by: None,
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
        if matches!(status.status, StatusWord::Pending | StatusWord::Failed) {
            status.blocked_by = self.blocker(now, (name, row), (position, &event.event));
        }
        status
    }

    /// The first event of the same key that this one has to wait for.
    fn blocker(
        &self,
        now: Timestamp,
        (name, row): (&str, &SubscriptionRow),
        (position, event): (Position, &Event),
    ) -> Option<Position> {
        let key = event.key.as_deref().filter(|_| row.order == Order::Key)?;
        let parked = row.parked.blocker(key, position, now);
        let dead = self.dead.holder(name, key).filter(|held| *held < position);
        [parked, dead].into_iter().flatten().min()
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
