//! Starting a relay, also while the database cannot be reached.

use std::{future::Future, time::Duration};

use posthaste::{Error, ErrorKind, Outbox, Relay, Result, RetryPolicy};
use tracing::{info, warn};

use super::{
    job::{Job, Patience},
    operate::Operating,
    tap::Tap,
};
use crate::exit::{Coded, REFUSED};

/// A relay that runs.
pub(super) struct Started {
    pub(super) outbox: Outbox,
    pub(super) relay: Relay,
}

/// Starts the relay, as soon as that is possible. Fails if waiting does not help, or if there is no patience.
pub(super) async fn start(job: &Job, taps: &[Tap], operating: Option<&Operating>) -> anyhow::Result<Started> {
    match job.patience {
        Patience::None => Ok(attempt(job, taps).await?),
        Patience::Endless => {
            let told = |error: &Error| {
                if let Some(operating) = operating {
                    operating.waits(error.chain());
                }
            };
            patiently(|| attempt(job, taps), told).await.map_err(|error| Coded::new(REFUSED, error).into())
        }
    }
}

async fn attempt(job: &Job, taps: &[Tap]) -> Result<Started> {
    let outbox = job.outbox().open().await?;
    let mut builder = outbox.relay().settings(job.settings.clone());
    for (served, tap) in job.subscriptions.iter().zip(taps) {
        builder = builder.subscribe(served.subscription.clone(), tap.clone());
    }
    let relay = builder.start().await?;
    Ok(Started { outbox, relay })
}

/// Tries until the database is there, or until waiting does not help. What each attempt came to is told.
async fn patiently<T, R: Future<Output = Result<T>>>(
    mut attempt: impl FnMut() -> R,
    told: impl Fn(&Error),
) -> Result<T> {
    let mut attempts = 0;
    loop {
        let error = match attempt().await {
            Ok(done) => {
                if attempts > 0 {
                    info!(attempts, "the database is there");
                }
                return Ok(done);
            }
            Err(error) if waiting_helps(&error) => error,
            Err(error) => return Err(error),
        };
        told(&error);
        attempts += 1;
        let wait = pause(attempts);
        warn!(error = error.chain(), ?wait, "the database cannot be reached; trying again");
        tokio::time::sleep(wait).await;
    }
}

fn waiting_helps(error: &Error) -> bool {
    error.kind() == ErrorKind::Unavailable
}

/// How long to wait after so many attempts: short at first for a database that is just starting, and spread, so that many relays do
/// not come back in step.
pub(super) fn pause(attempts: u32) -> Duration {
    let policy = RetryPolicy {
        base: Duration::from_millis(500),
        max: Duration::from_secs(15),
        ..RetryPolicy::default()
    };
    let wait = policy.delay(attempts, fastrand::f64());
    // Told in the log, where nobody wants nanoseconds.
    Duration::from_millis(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    async fn tried(errors: &[ErrorKind]) -> (u32, Result<()>) {
        let tries = Cell::new(0);
        let attempt = || {
            let error = errors.get(tries.replace(tries.get() + 1) as usize);
            let answer = error.map_or(Ok(()), |kind| Err(Error::new(*kind, "no")));
            async move { answer }
        };
        let ended = patiently(attempt, |_| ());
        let ended = ended.await;
        (tries.get(), ended)
    }

    #[tokio::test(start_paused = true)]
    async fn waits_while_waiting_helps_and_no_longer() {
        let (tries, ended) = tried(&[ErrorKind::Unavailable; 5]).await;
        assert!(ended.is_ok() && tries == 6, "{tries} {ended:?}");

        for kind in [ErrorKind::Refused, ErrorKind::Schema, ErrorKind::Invalid, ErrorKind::NotFound] {
            let (tries, ended) = tried(&[ErrorKind::Unavailable, kind]).await;
            assert!(ended.is_err() && tries == 2, "{kind:?}: {tries} {ended:?}");
        }
    }

    #[test]
    fn pauses_grow_to_a_quarter_of_a_minute() {
        assert!(pause(1) <= Duration::from_millis(625));
        for attempts in [10, 1_000, u32::MAX] {
            assert!((Duration::from_secs(11)..Duration::from_secs(19)).contains(&pause(attempts)));
        }
    }
}
