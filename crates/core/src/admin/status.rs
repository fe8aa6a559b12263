//! The state of the log: counts, relays, lanes, jobs.

use serde::{Deserialize, Serialize};

use super::Job;
use crate::{ActKind, Lane, Position, RelayId, Timestamp};

/// Up to so many rows are counted one by one; beyond that it is estimated how many there are.
pub const MAX_COUNTED: u64 = 10_000;

/// The state of the log.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// What time it is, by the clock of the log.
    pub now: Timestamp,
    /// The version of the tables.
    pub schema_version: i64,
    /// The number of lanes.
    pub lanes: u8,
    /// How many events the log holds, delivered ones included.
    pub events: u64,
    /// Whether that is an estimate.
    pub events_estimated: bool,
    /// How many bytes its tables take.
    pub bytes: u64,
    /// What nobody will ever deliver, because the tables are damaged: events in lanes that have lost their lines, and parked events whose
    /// subscription is gone. Always 0, unless somebody has changed the tables by hand. At most [`MAX_COUNTED`] of each kind are counted.
    pub orphaned: u64,
    /// Live relays, by id.
    pub relays: Vec<RelayStatus>,
    /// Each subscription, by name.
    pub subscriptions: Vec<SubscriptionStatus>,
    /// The jobs that are not over, and the last ones that are: at most 50, the newest first.
    pub jobs: Vec<Job>,
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
    /// Whether that is an estimate.
    pub pending_estimated: bool,
    /// Events parked for a retry or behind one.
    pub failed: u64,
    /// Of those, events that have not failed themselves: they wait behind another of their key, or have just fallen due.
    pub behind: u64,
    /// Events that are not due yet.
    pub delayed: u64,
    /// Unresolved dead letters.
    pub dead: u64,
    /// Events that died in the last hour, resolved since or not, among the last 10,000 dead letters of the log.
    pub dead_last_hour: u64,
    /// Deliveries that its lines tell of.
    pub delivered: u64,
    /// Of those, deliveries in the last minute.
    pub delivered_last_minute: u64,
    /// Lanes that a live relay holds.
    pub lanes_held: u64,
    /// When a line was last appended.
    pub moved_at: Option<Timestamp>,
    /// How old the oldest event is that is pending or failed, in seconds.
    pub oldest_age_seconds: Option<f64>,
    /// How old the oldest event is that is failed, in seconds.
    pub oldest_failed_seconds: Option<f64>,
}

/// A live relay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RelayStatus {
    /// Its id.
    pub relay: RelayId,
    /// On which machine it runs.
    pub host: String,
    /// The version of the program.
    pub version: String,
    /// The subscriptions it serves.
    pub subscriptions: Vec<String>,
    /// Since when.
    pub started_at: Timestamp,
    /// When its lease ends unless it is renewed.
    pub held_until: Timestamp,
    /// How many lanes it holds, in all subscriptions.
    pub lanes: u64,
}

/// How one lane of a subscription stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LaneStatus {
    /// The lane.
    pub lane: Lane,
    /// The number of its last line; 0 if it has none, which is damage.
    pub n: i64,
    /// What was done last.
    pub kind: Option<ActKind>,
    /// When.
    pub at: Option<Timestamp>,
    /// Who holds it, if that relay is alive.
    pub holder: Option<RelayId>,
    /// The last position that is settled.
    pub settled: Position,
    /// Events ahead of the cursor.
    pub pending: u64,
    /// Whether that is an estimate.
    pub pending_estimated: bool,
    /// How old the oldest of them is, in seconds.
    pub oldest_age_seconds: Option<f64>,
}

/// Rows of the log that were counted, from the first on, at most one more than [`MAX_COUNTED`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// How many.
    pub rows: u64,
    /// The first one's position.
    pub first: i64,
    /// The last one's position.
    pub last: i64,
}

impl Sample {
    /// Both together.
    #[must_use]
    pub fn and(self, other: Sample) -> Sample {
        match (self.rows, other.rows) {
            (0, _) => other,
            (_, 0) => self,
            _ => Sample {
                rows: self.rows + other.rows,
                first: self.first.min(other.first),
                last: self.last.max(other.last),
            },
        }
    }

    /// Whether there are more rows than were counted.
    #[must_use]
    pub fn is_cut(self) -> bool {
        self.rows > MAX_COUNTED
    }

    /// How many of `counted` rows of the sample there are up to the end, if what lies behind the sample is like the sample.
    #[must_use]
    pub fn extrapolate(self, counted: u64, end: i64) -> u64 {
        if !self.is_cut() {
            return counted;
        }
        let width = |to: i64| u128::from(to.saturating_sub(self.first).max(0).unsigned_abs()) + 1;
        let all = u128::from(counted) * width(end.max(self.last)) / width(self.last);
        u64::try_from(all).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_that_was_not_cut_is_all_there_is() {
        let sample = Sample { rows: MAX_COUNTED, first: 1, last: 50_000 };

        assert_eq!(sample.extrapolate(MAX_COUNTED, 1_000_000), MAX_COUNTED);
    }

    #[test]
    fn what_lies_behind_a_sample_is_like_it() {
        let sample = Sample { rows: MAX_COUNTED + 1, first: 1_000_001, last: 1_020_002 };

        // Every second position is one of them.
        assert_eq!(sample.extrapolate(sample.rows, 2_000_000), 500_000);
        assert_eq!(sample.extrapolate(0, 2_000_000), 0);
        assert_eq!(
            sample.extrapolate(sample.rows, 5),
            sample.rows,
            "an end that is not behind it says nothing"
        );
    }
}
