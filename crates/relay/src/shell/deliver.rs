//! Calling a sink so that nothing it does can hurt the relay: it may panic, hang, or answer too little.

use std::{
    panic::AssertUnwindSafe,
    time::{Duration, Instant},
};

use futures_util::FutureExt;
use posthaste_core::{Delivery, Entry, Fault, Sink};

/// How much longer than allowed a sink may take to answer, before it is taken to hang.
const PATIENCE: Duration = Duration::from_secs(1);

/// Delivers a batch. A sink that panics on it gets its entries one by one, so that only the one to blame is poison.
pub(super) async fn deliver(sink: &dyn Sink, entries: &[Entry], until: Instant) -> Vec<Delivery> {
    if let Some(deliveries) = attempt(sink, entries, until).await {
        return deliveries;
    }
    tracing::error!(entries = entries.len(), "the sink panicked; its batch is tried entry by entry");
    let mut deliveries = Vec::with_capacity(entries.len());
    let mut poisoned: Vec<&str> = Vec::new();
    for entry in entries {
        let key = entry.event.key.as_deref();
        if key.is_some_and(|key| poisoned.contains(&key)) {
            deliveries.push(Delivery::NotSent);
            continue;
        }
        let delivery = match attempt(sink, std::slice::from_ref(entry), until).await {
            Some(mut answers) => answers.pop().unwrap_or(Delivery::NotSent),
            None => Delivery::Failed(Fault::poison("the sink panicked on this event")),
        };
        if delivery != Delivery::Delivered {
            poisoned.extend(key);
        }
        deliveries.push(delivery);
    }
    deliveries
}

/// One call; none if the sink panicked.
async fn attempt(sink: &dyn Sink, entries: &[Entry], until: Instant) -> Option<Vec<Delivery>> {
    if tokio::time::Instant::now() >= until.into() {
        return Some(vec![Delivery::NotSent; entries.len()]);
    }
    // In a block of its own, so that a sink that panics before it returns a future is caught as well.
    let call = AssertUnwindSafe(async { sink.deliver(entries, until).await }).catch_unwind();
    match tokio::time::timeout_at((until + PATIENCE).into(), call).await {
        Ok(answer) => answer.ok(),
        Err(_) => {
            tracing::error!(entries = entries.len(), "the sink has not answered in its time and is given up");
            Some(vec![
                Delivery::Failed(Fault::unavailable("the sink did not answer in its time"));
                entries.len()
            ])
        }
    }
}

/// Pings a sink; a panic is an answer too.
pub(super) async fn ping(sink: &dyn Sink, limit: Duration) -> Result<(), Fault> {
    let call = AssertUnwindSafe(async { sink.ping().await }).catch_unwind();
    match tokio::time::timeout(limit, call).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(_)) => Err(Fault::unavailable("the sink panicked when it was pinged")),
        Err(_) => Err(Fault::unavailable("the sink did not answer a ping")),
    }
}
