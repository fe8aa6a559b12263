//! What a relay does for the log besides delivering from it: removing what is old, and carrying out what operators started.

use std::time::Duration;

use async_trait::async_trait;

use crate::Result;

/// What a relay needs of a database for its upkeep. Several relays may do it at the same time.
#[async_trait]
pub trait Upkeep: Send + Sync + 'static {
    /// Removes what is older than the retention and settled by every subscription; a bounded step at a time.
    async fn prune(&self, retention: &Retention) -> Result<Pruned>;

    /// Carries out a part of one job that is due: at most [`MAX_BATCH`](crate::MAX_BATCH) dead letters, in one transaction with the
    /// job's progress. Relays that ask at the same time get different parts. A part that the database refuses ends its job.
    async fn work(&self) -> Result<Worked>;
}

/// What may be pruned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Settled events older than this go.
    pub events: Duration,
    /// Lines older than this go, except the last of each lane.
    pub lines: Duration,
    /// Journal rows older than this go, and jobs that have been over for longer.
    pub journal: Duration,
    /// Dead letters that somebody resolved longer ago than this go, once the log has no more of the event. Others never do.
    pub dead: Duration,
    /// How many rows of each kind go in one step at most.
    pub step: u32,
}

impl Default for Retention {
    fn default() -> Self {
        const DAY: Duration = Duration::from_secs(24 * 60 * 60);
        Self { events: 7 * DAY, lines: 7 * DAY, journal: 30 * DAY, dead: 30 * DAY, step: 1_000 }
    }
}

/// What was pruned in one step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Events that went.
    pub events: u64,
    /// Lines that went.
    pub lines: u64,
    /// Journal rows that went, and jobs.
    pub journal: u64,
    /// Resolved dead letters that went.
    pub dead: u64,
}

/// What was done of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Worked {
    /// How many dead letters were moved.
    pub letters: u64,
    /// When the next part of any job is due; none if no job is left.
    pub next: Option<Duration>,
}
