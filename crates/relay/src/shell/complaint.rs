//! Says that a loop fails, once and then every few seconds, and that it has recovered: never a line a try.

use posthaste_core::Error;
use std::time::Duration;

use crate::{Moment, metric};

const REPEAT: Duration = Duration::from_secs(10);

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
