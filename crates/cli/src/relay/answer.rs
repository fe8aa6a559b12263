//! Whether the destinations answer when the relay starts. They are waited for in any case; an operator wants to know.

use posthaste::Sink;
use tokio::task::JoinSet;
use tracing::{info, warn};

use super::{job::Job, start::pause, tap::Tap};

/// Asks each destination until it answers once, and says so. What happens later is the engine's to tell.
pub(super) fn watch(job: &Job, taps: &[Tap]) -> JoinSet<()> {
    let mut asking = JoinSet::new();
    for (served, tap) in job.subscriptions.iter().zip(taps) {
        let (subscription, sink) = (served.subscription.name.clone(), served.destination.to_string());
        asking.spawn(ask(subscription, sink, tap.clone()));
    }
    asking
}

async fn ask(subscription: String, sink: String, tap: Tap) {
    let mut attempts = 0;
    while let Err(fault) = tap.ping().await {
        attempts += 1;
        // Once is enough: while events wait the engine complains as well.
        if attempts == 1 {
            warn!(subscription, sink, error = %fault, "the destination does not answer; its events wait");
        }
        tokio::time::sleep(pause(attempts)).await;
    }
    if attempts > 0 {
        info!(subscription, sink, attempts, "the destination answers");
    }
}
