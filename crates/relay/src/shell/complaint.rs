//! Says that something goes wrong, once and then every few seconds, and that it has recovered: never a line a try.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use posthaste_core::Error;
use tokio::time::Instant;

use crate::{Moment, metric};

const REPEAT: Duration = Duration::from_secs(10);

/// Something that is worth saying, but not each time it happens.
#[derive(Debug, Default)]
pub(super) struct Seldom(Mutex<Option<Instant>>);

impl Seldom {
    /// Whether it is to be said now: it was not said lately.
    pub(super) fn is_time(&self) -> bool {
        let mut said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let time = said.is_none_or(|said| now.duration_since(said) >= REPEAT);
        if time {
            *said = Some(now);
        }
        time
    }
}

/// The state of one loop's failures.
#[derive(Debug)]
pub(super) struct Complaint {
    /// Which loop.
    name: &'static str,
    prefix: String,
    /// Since when it fails, and when that was said last.
    failing: Option<(Moment, Moment)>,
}

impl Complaint {
    pub(super) fn new(name: &'static str, prefix: &str) -> Self {
        Self { name, prefix: prefix.to_owned(), failing: None }
    }

    pub(super) fn failed(&mut self, now: Moment, error: &Error) {
        metric::loop_failed(&self.prefix, self.name);
        let (since, said) = self.failing.unwrap_or((now, now));
        if self.failing.is_none() || now.since(said) >= REPEAT {
            let seconds = now.since(since).as_secs();
            tracing::error!(operation = self.name, error = %error.chain(), failing_for_seconds = seconds, "the log does not answer; trying again");
            self.failing = Some((since, now));
        }
    }

    pub(super) fn succeeded(&mut self, now: Moment) {
        if let Some((since, _)) = self.failing.take() {
            let seconds = now.since(since).as_secs_f64();
            tracing::info!(operation = self.name, failed_for_seconds = seconds, "the log answers again");
        }
    }
}
