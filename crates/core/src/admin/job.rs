//! Jobs: what is done to many dead letters, by the relays, a batch at a time.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::DeadFilter;
use crate::{Error, Result, Timestamp};

/// How many dead letters a job moves in one transaction at most.
pub const MAX_BATCH: u32 = 500;

/// How many jobs may be unfinished at one time.
pub const MAX_JOBS: u64 = 100;

/// What is done to dead letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobKind {
    /// They are sent again.
    Replay,
    /// They are given up for good.
    Discard,
}

impl JobKind {
    /// The kind as it is stored and shown.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            JobKind::Replay => "replay",
            JobKind::Discard => "discard",
        }
    }

    /// The kind that is stored as this text.
    #[must_use]
    pub fn of(text: &str) -> Option<Self> {
        [JobKind::Replay, JobKind::Discard].into_iter().find(|kind| kind.as_str() == text)
    }

    /// What becomes of a dead letter.
    #[must_use]
    pub fn resolution(self) -> &'static str {
        match self {
            JobKind::Replay => "replayed",
            JobKind::Discard => "discarded",
        }
    }
}

/// How a job stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    /// No relay has begun.
    Waiting,
    /// A part is done.
    Running,
    /// All is done.
    Done,
    /// An operator has stopped it.
    Cancelled,
    /// It cannot be done; the error says why.
    Failed,
}

impl JobState {
    /// All states.
    pub const ALL: [JobState; 5] =
        [JobState::Waiting, JobState::Running, JobState::Done, JobState::Cancelled, JobState::Failed];

    /// The state as it is stored and shown.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            JobState::Waiting => "waiting",
            JobState::Running => "running",
            JobState::Done => "done",
            JobState::Cancelled => "cancelled",
            JobState::Failed => "failed",
        }
    }

    /// The state that is stored as this text.
    #[must_use]
    pub fn of(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == text)
    }

    /// Whether nothing more will happen.
    #[must_use]
    pub fn is_over(self) -> bool {
        matches!(self, JobState::Done | JobState::Cancelled | JobState::Failed)
    }
}

/// A job to be started.
#[derive(Clone, Debug, PartialEq)]
pub struct JobRequest {
    /// What to do.
    pub kind: JobKind,
    /// To which unresolved dead letters. Those that die later are not meant, and what it says of pages does not matter.
    pub matching: DeadFilter,
    /// How many a second at most.
    pub per_second: Option<u32>,
}

impl JobRequest {
    /// Says what is wrong with the request.
    pub fn validate(&self) -> Result<()> {
        if self.per_second == Some(0) {
            return Err(Error::invalid("a job with 0 dead letters a second would never end"));
        }
        DeadFilter { cursor: None, limit: 0, ..self.matching.clone() }.validate()
    }
}

/// What a viewer can ask about jobs.
#[async_trait]
pub trait Jobs: Send + Sync + 'static {
    /// The job of this number, however many there were since.
    async fn job(&self, job_id: i64) -> Result<Job>;

    /// Those that are not over, and the last ones that are, newest first: what [`Status`](super::Status) tells of them, without the rest.
    async fn jobs(&self) -> Result<Vec<Job>>;
}

/// A job, as it stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// Its number.
    pub job_id: i64,
    /// What is done.
    pub kind: JobKind,
    /// To which dead letters.
    pub matching: DeadFilter,
    /// How many a second at most.
    pub per_second: Option<u32>,
    /// Who wants it.
    pub requested_by: String,
    /// Since when.
    pub requested_at: Timestamp,
    /// How it stands.
    pub state: JobState,
    /// How many dead letters fitted when it was started.
    pub concerned: u64,
    /// How many are done. Fewer than `concerned` at the end, if somebody else resolved some meanwhile.
    pub done: u64,
    /// Why it failed.
    pub error: Option<String>,
    /// When a relay began.
    pub started_at: Option<Timestamp>,
    /// When it was over.
    pub finished_at: Option<Timestamp>,
}

impl Job {
    /// What the journal says of it.
    #[must_use]
    pub fn text(&self) -> String {
        let text = format!("job {}: {}", self.job_id, self.kind.as_str());
        match &self.error {
            Some(error) => format!("{text}; it failed: {error}"),
            None => text,
        }
    }

    /// Why it cannot be cancelled, if it cannot.
    pub fn check_cancel(&self) -> Result<()> {
        if self.state.is_over() {
            let message = format!("job {} is over: it is {}", self.job_id, self.state.as_str());
            return Err(Error::new(crate::ErrorKind::Refused, message));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_as_they_are_written() {
        for state in JobState::ALL {
            assert_eq!(JobState::of(state.as_str()), Some(state));
        }
        for kind in [JobKind::Replay, JobKind::Discard] {
            assert_eq!(JobKind::of(kind.as_str()), Some(kind));
        }
        assert_eq!((JobState::of("Done"), JobKind::of("edit")), (None, None));
    }
}
