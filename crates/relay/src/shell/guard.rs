//! What keeps a relay alive whatever a log does: it may panic, and it may never answer.

use std::{panic::AssertUnwindSafe, time::Duration};

use futures_util::{FutureExt, future::BoxFuture};
use posthaste_core::{Error, ErrorKind, Result};

use crate::metric;

/// How long to wait before a loop that panicked is started anew.
const PAUSE: Duration = Duration::from_secs(1);

/// Runs a loop, and runs it again whenever it panics: losing everything in memory loses nothing.
pub(super) async fn keep_running<S: Send>(
    name: &'static str,
    prefix: String,
    mut state: S,
    run: fn(&mut S) -> BoxFuture<'_, ()>,
) {
    while AssertUnwindSafe(async { run(&mut state).await }).catch_unwind().await.is_err() {
        metric::loop_failed(&prefix, name);
        tracing::error!(operation = name, "a loop of the relay panicked; starting it anew");
        tokio::time::sleep(PAUSE).await;
    }
}

/// Waits for an answer of the log, but not for ever: a connection can be dead without anybody being told.
pub(super) async fn within<T>(limit: Duration, call: impl Future<Output = Result<T>>) -> Result<T> {
    match tokio::time::timeout(limit, call).await {
        Ok(answer) => answer,
        Err(_) => {
            let message = format!("no answer within {limit:?}");
            Err(Error::new(ErrorKind::Unavailable, message))
        }
    }
}
