//! Waiting until there is nothing to do.

use std::time::Duration;

use posthaste::{Outbox, Status};

use super::job::Job;

/// The time between two looks: short at first for small logs, longer for those where looking costs something.
const FIRST: Duration = Duration::from_millis(20);
const LONGEST: Duration = Duration::from_millis(500);

/// Waits until nothing is pending and nothing waits for a retry, in any subscription of the job. What is not due yet is left for
/// later.
pub(super) async fn wait(outbox: &Outbox, job: &Job) {
    let mut pause = FIRST;
    loop {
        // A database that does not answer is the relay's to complain about; whether all is done is not known.
        let status = outbox.admin().status().await;
        if status.is_ok_and(|status| job.names().all(|name| is_idle(&status, name))) {
            return;
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST);
    }
}

fn is_idle(status: &Status, subscription: &str) -> bool {
    let found = status.subscriptions.iter().find(|found| found.name == subscription);
    found.is_some_and(|found| found.pending == 0 && found.failed == 0)
}

#[cfg(test)]
mod tests {
    use posthaste::SubscriptionStatus;

    use super::*;

    fn is_idle_with(pending: u64, failed: u64, delayed: u64) -> bool {
        let name = "default".to_owned();
        let found = SubscriptionStatus { name, pending, failed, delayed, ..SubscriptionStatus::default() };
        is_idle(&Status { subscriptions: vec![found], ..Status::default() }, "default")
    }

    #[test]
    fn pending_and_failed_events_are_waited_for_and_delayed_ones_are_not() {
        assert!(is_idle_with(0, 0, 5));
        assert!(!is_idle_with(1, 0, 0));
        assert!(!is_idle_with(0, 1, 0));
        assert!(!is_idle(&Status::default(), "default"), "the subscription is not there yet");
    }
}
