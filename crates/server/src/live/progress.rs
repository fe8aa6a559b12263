//! Whether subscriptions move. Pure: time is an argument.
//!
//! A process that runs says nothing: what counts is that a subscription with work gets on with it (pitfall U1).

use std::{collections::BTreeMap, time::Duration};

use posthaste::{Status, SubscriptionStatus};
use tokio::time::Instant;

use super::reading::Reading;

/// When each subscription moved last.
#[derive(Debug, Default)]
pub(crate) struct Progress(BTreeMap<String, Mark>);

#[derive(Clone, Copy, Debug)]
struct Mark {
    moved: Instant,
    /// When the log was asked last.
    seen: Instant,
    counted: f64,
    delivered: u64,
    pending: u64,
}

impl Progress {
    /// Notes how things stand now.
    pub(crate) fn see(&mut self, now: Instant, status: &Status, reading: &Reading) {
        self.0.retain(|name, _| status.subscriptions.iter().any(|found| found.name == *name));
        for found in &status.subscriptions {
            let counted = reading.0.get(&found.name).map_or(0.0, |counted| counted.moved());
            let mark =
                Mark { moved: now, seen: now, counted, delivered: found.delivered, pending: found.pending };
            match self.0.get_mut(&found.name) {
                Some(before) if !has_moved(before, &mark, found) => {
                    // More work is no progress, but what was there before is what has to get less.
                    before.pending = before.pending.max(mark.pending);
                    before.seen = now;
                }
                _ => {
                    self.0.insert(found.name.clone(), mark);
                }
            }
        }
    }

    /// For how long a subscription has had work and has not moved, as far as the log was asked: that it does not answer is another
    /// matter.
    pub(crate) fn still(&self, name: &str) -> Duration {
        self.0.get(name).map_or(Duration::ZERO, |mark| mark.seen.duration_since(mark.moved))
    }
}

/// Where there is nothing to do, or nothing is to be done, standing still is all right.
fn has_moved(before: &Mark, now: &Mark, found: &SubscriptionStatus) -> bool {
    let idle = found.pending == 0 || found.paused;
    idle || now.counted != before.counted || now.delivered != before.delivered || now.pending < before.pending
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::reading::Counted;

    fn status(pending: u64, delivered: u64, paused: bool) -> Status {
        let found = SubscriptionStatus {
            name: "a".to_owned(),
            pending,
            delivered,
            paused,
            ..SubscriptionStatus::default()
        };
        Status { subscriptions: vec![found], ..Status::default() }
    }

    fn reading(skipped: f64) -> Reading {
        Reading(BTreeMap::from([("a".to_owned(), Counted { skipped, ..Counted::default() })]))
    }

    #[test]
    fn only_work_that_does_not_get_less_stands_still() {
        let start = Instant::now();
        let minute = |number: u32| start + Duration::from_secs(60) * number;
        for (what, first, then, still) in [
            ("nothing to do", (0, 5, false, 0.0), (0, 5, false, 0.0), 0),
            ("paused", (9, 5, true, 0.0), (9, 5, true, 0.0), 0),
            ("stuck", (9, 5, false, 0.0), (9, 5, false, 0.0), 120),
            ("stuck, and more comes", (9, 5, false, 0.0), (50, 5, false, 0.0), 120),
            ("delivered, then stuck", (9, 5, false, 0.0), (9, 6, false, 0.0), 60),
            ("skipped, then stuck", (9, 5, false, 0.0), (9, 5, false, 1.0), 60),
            ("got less, then stuck", (9, 5, false, 0.0), (8, 5, false, 0.0), 60),
            ("old lines were pruned, then stuck", (9, 5, false, 0.0), (9, 4, false, 0.0), 60),
        ] {
            let mut progress = Progress::default();
            progress.see(minute(0), &status(first.0, first.1, first.2), &reading(first.3));
            progress.see(minute(1), &status(then.0, then.1, then.2), &reading(then.3));
            progress.see(minute(2), &status(then.0, then.1, then.2), &reading(then.3));
            assert_eq!(progress.still("a"), Duration::from_secs(still), "{what}");
        }
    }
}
