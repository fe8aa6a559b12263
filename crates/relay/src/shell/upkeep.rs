//! What a relay does besides delivering: removing what is no longer needed, and measuring how the log stands.

use std::{sync::Arc, time::Duration};

use posthaste_core::{Admin, Log, Pruned, Retention, Status};

use super::{complaint::Complaint, timer::Timer};
use crate::metric::{self, Metrics};

/// How often the state of the log is measured.
const MEASURE_INTERVAL: Duration = Duration::from_secs(15);

/// Prunes step by step; while a step is full the next follows soon, so that it keeps up with any load.
pub(super) async fn prune(
    log: Arc<dyn Log>,
    retention: Retention,
    interval: Duration,
    timer: Timer,
    prefix: String,
) {
    const BETWEEN_FULL_STEPS: Duration = Duration::from_millis(50);
    let mut complaint = Complaint::new("prune", &prefix);
    let mut wait = interval;
    loop {
        tokio::time::sleep(wait).await;
        wait = interval;
        match log.prune(&retention).await {
            Ok(pruned) => {
                complaint.succeeded(timer.now());
                metric::pruned(&prefix, pruned.events + pruned.lines + pruned.journal);
                if is_full(&pruned, retention.step) {
                    wait = BETWEEN_FULL_STEPS;
                }
            }
            Err(error) => complaint.failed(timer.now(), &error),
        }
    }
}

fn is_full(pruned: &Pruned, step: u32) -> bool {
    pruned.events.max(pruned.lines).max(pruned.journal) >= u64::from(step)
}

/// Sets the gauges that only the log can tell. A relay that does not move shows here: the age is the log's.
pub(super) async fn measure(
    admin: Arc<dyn Admin>,
    metrics: Vec<(String, Metrics)>,
    timer: Timer,
    prefix: String,
) {
    let mut complaint = Complaint::new("measure", &prefix);
    loop {
        match admin.status().await {
            Ok(status) => {
                complaint.succeeded(timer.now());
                show(&status, &metrics, &prefix);
            }
            Err(error) => complaint.failed(timer.now(), &error),
        }
        tokio::time::sleep(MEASURE_INTERVAL).await;
    }
}

#[expect(clippy::cast_precision_loss, reason = "gauges are floats, and counts of rows are below 2^52")]
fn show(status: &Status, metrics: &[(String, Metrics)], prefix: &str) {
    metric::table_bytes(prefix, status.bytes);
    for (name, metrics) in metrics {
        let Some(subscription) = status.subscriptions.iter().find(|subscription| subscription.name == *name)
        else {
            continue;
        };
        metrics.pending.set(subscription.pending as f64);
        metrics.parked.set((subscription.failed + subscription.delayed) as f64);
        metrics.dead_letters.set(subscription.dead as f64);
        metrics.oldest_age_seconds.set(subscription.oldest_age_seconds.unwrap_or(0.0));
    }
}
