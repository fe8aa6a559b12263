//! What a relay does besides delivering: removing what is no longer needed, carrying out what operators started, and measuring how the log
//! stands.

use std::{sync::Arc, time::Duration};

use posthaste_core::{Inspect, Log, Pruned, Status};

use super::{complaint::Complaint, hot::Hot, timer::Timer};
use crate::{
    Settings,
    metric::{self, Metrics},
};

/// How often the state of the log is measured.
const MEASURE_INTERVAL: Duration = Duration::from_secs(15);

/// When it is measured first: a relay that has just started has better to do.
const FIRST_MEASURE: Duration = Duration::from_secs(3);

/// How often a relay looks whether an operator has started a job.
const LOOK_FOR_JOBS: Duration = Duration::from_secs(1);

/// The least wait between two steps of pruning or of a job.
const SHORTEST_PAUSE: Duration = Duration::from_millis(5);

/// Counting a large backlog takes a while. The wait is at least so many times as long, so that it never costs much.
const MEASURE_SHARE: u32 = 50;

/// Removes what is no longer needed.
pub(super) struct Pruner {
    pub(super) log: Arc<dyn Log>,
    pub(super) settings: Settings,
    pub(super) timer: Timer,
    pub(super) prefix: String,
}

impl Pruner {
    /// Prunes step by step. While a step is full the next follows after as long as it took: others have the database for at least
    /// half of the time, and what has piled up goes faster than it came. (In SQLite a row takes 2 µs to remove if ids grow with
    /// time, as ours do, and about 10 µs if they are random; to publish one takes 20 µs.)
    pub(super) async fn run(&mut self) {
        let (interval, retention) = (self.settings.prune_interval, self.settings.retention);
        let mut complaint = Complaint::new("prune", &self.prefix);
        let mut wait = interval;
        loop {
            tokio::time::sleep(wait).await;
            wait = interval;
            let began = self.timer.now();
            match self.log.prune(&retention).await {
                Ok(pruned) => {
                    complaint.succeeded(self.timer.now());
                    metric::pruned(&self.prefix, pruned.events + pruned.lines + pruned.journal + pruned.dead);
                    if is_full(&pruned, retention.step) {
                        wait = self.timer.now().since(began).max(SHORTEST_PAUSE);
                    }
                }
                Err(error) => complaint.failed(self.timer.now(), &error),
            }
        }
    }
}

fn is_full(pruned: &Pruned, step: u32) -> bool {
    pruned.events.max(pruned.lines).max(pruned.journal).max(pruned.dead) >= u64::from(step)
}

/// Carries out what operators started.
pub(super) struct Worker {
    pub(super) log: Arc<dyn Log>,
    pub(super) hot: Hot,
    pub(super) timer: Timer,
    pub(super) prefix: String,
}

impl Worker {
    /// Works batch by batch. The next follows after as long as the last took, so that others have the database for at least half of the
    /// time; or later, if the job may only go so fast.
    pub(super) async fn run(&mut self) {
        let mut complaint = Complaint::new("work", &self.prefix);
        let mut wait = LOOK_FOR_JOBS;
        loop {
            tokio::time::sleep(wait).await;
            wait = LOOK_FOR_JOBS;
            let began = self.timer.now();
            match self.log.work().await {
                Ok(worked) => {
                    complaint.succeeded(self.timer.now());
                    if worked.letters > 0 {
                        metric::worked(&self.prefix, worked.letters);
                        // What was sent again is due at once, and here it is known first.
                        self.hot.ring();
                    }
                    if let Some(next) = worked.next {
                        let took = self.timer.now().since(began).max(SHORTEST_PAUSE);
                        wait = next.clamp(took, LOOK_FOR_JOBS.max(took));
                    }
                }
                Err(error) => complaint.failed(self.timer.now(), &error),
            }
        }
    }
}

/// Measures how the log stands.
pub(super) struct Gauge {
    pub(super) inspect: Arc<dyn Inspect>,
    /// Those of each subscription, by name.
    pub(super) metrics: Vec<(String, Metrics)>,
    pub(super) timer: Timer,
    pub(super) prefix: String,
}

impl Gauge {
    /// Sets the gauges that only the log can tell. A relay that does not move shows here: the age is the log's.
    pub(super) async fn run(&mut self) {
        let mut complaint = Complaint::new("measure", &self.prefix);
        let mut wait = FIRST_MEASURE;
        loop {
            tokio::time::sleep(wait).await;
            let began = self.timer.now();
            match self.inspect.status().await {
                Ok(status) => {
                    complaint.succeeded(self.timer.now());
                    self.show(&status);
                }
                Err(error) => complaint.failed(self.timer.now(), &error),
            }
            wait = MEASURE_INTERVAL.max(self.timer.now().since(began) * MEASURE_SHARE);
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "gauges are floats, and counts of rows are below 2^52")]
    fn show(&self, status: &Status) {
        metric::table_bytes(&self.prefix, status.bytes);
        for (name, metrics) in &self.metrics {
            let Some(subscription) = status.subscriptions.iter().find(|found| found.name == *name) else {
                continue;
            };
            metrics.pending.set(subscription.pending as f64);
            metrics.parked.set((subscription.failed + subscription.delayed) as f64);
            metrics.dead_letters.set(subscription.dead as f64);
            metrics.oldest_age_seconds.set(subscription.oldest_age_seconds.unwrap_or(0.0));
        }
    }
}
