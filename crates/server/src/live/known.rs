//! What is known at present: what the log said last, what the destinations answered, and the past.

use std::{
    collections::{BTreeMap, VecDeque},
    time::Duration,
};

use posthaste::Status;
use tokio::time::Instant;

use super::{notice::Notice, progress::Progress, reading::Reading, ring::Ring};

/// What is known at present.
#[derive(Default)]
pub(crate) struct Known {
    /// What the log said last, as long as it answers.
    pub(crate) status: Option<Status>,
    /// How the last question to the database went; none before the first.
    pub(crate) database: Option<Asked>,
    /// What was found the last time the tables were looked over; none before the first.
    pub(crate) damage: Option<Vec<String>>,
    /// What the engine has counted up to now.
    pub(crate) reading: Reading,
    /// How the last question to each destination went, by subscription.
    pub(crate) sinks: BTreeMap<String, Asked>,
    pub(crate) progress: Progress,
    pub(crate) ring: Ring,
    /// What happened lately, oldest first.
    pub(crate) notices: VecDeque<Notice>,
}

/// How many notices are kept.
const NOTICES: usize = 100;

impl Known {
    /// Keeps a notice for those who look later.
    pub(crate) fn note(&mut self, notice: Notice) {
        if self.notices.len() == NOTICES {
            self.notices.pop_front();
        }
        self.notices.push_back(notice);
    }

    /// Notes how a question to the database went.
    pub(crate) fn note_database(&mut self, answer: Result<Duration, String>) {
        self.database = Some(Asked { at: Instant::now(), answer });
    }
}

/// How a question went.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) at: Instant,
    /// How long the answer took, or what was said instead.
    pub(crate) answer: Result<Duration, String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_notices_are_kept() {
        let mut known = Known::default();
        for number in 0..150 {
            let at = number.to_string();
            known.note(Notice { at, subscription: "a".to_owned(), what: "paused", count: None });
        }
        assert_eq!((known.notices.len(), known.notices[0].at.as_str()), (NOTICES, "50"));
    }
}
