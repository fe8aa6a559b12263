//! Listeners as a sink: calls them in order, and turns however a call ends into a delivery.

use std::{
    any::Any,
    collections::{HashMap, HashSet},
    panic::AssertUnwindSafe,
    sync::atomic::{AtomicBool, Ordering},
};

use async_trait::async_trait;
use futures_util::{FutureExt, StreamExt, stream};
use posthaste_core::{Delivery, Entry, Fault, FaultKind, Sink};
use tokio::time::{Instant, timeout_at};

use crate::{Listeners, Received, registry::Listener};

#[async_trait]
impl Sink for Listeners {
    async fn deliver(&self, batch: &[Entry], until: std::time::Instant) -> Vec<Delivery> {
        // The runtime's clock, which tests can move; otherwise it is the same one.
        let time = Time { began: Instant::now(), until: Instant::from_std(until) };
        if self.concurrency == 1 { self.in_turn(batch, time).await } else { self.by_key(batch, time).await }
    }

    /// Functions are always there. What they need may be down, and only they know it.
    async fn ping(&self) -> Result<(), Fault> {
        Ok(())
    }
}

/// From when to when a batch may run.
#[derive(Clone, Copy)]
struct Time {
    began: Instant,
    until: Instant,
}

impl Listeners {
    /// The usual way: one entry after the other. Allocates nothing for an entry that no listener wants.
    async fn in_turn(&self, batch: &[Entry], time: Time) -> Vec<Delivery> {
        let mut answers = Vec::with_capacity(batch.len());
        let mut failed_keys = HashSet::new();
        let mut outage = false;
        for entry in batch {
            let waits = outage || entry.event.key.as_deref().is_some_and(|key| failed_keys.contains(key));
            let answer = if waits { Delivery::NotSent } else { self.run(entry, time).await };
            if let Delivery::Failed(fault) = &answer {
                outage = is_outage(fault);
                failed_keys.extend(entry.event.key.as_deref());
            }
            answers.push(answer);
        }
        answers
    }

    /// Several keys at once, the entries of each one after the other.
    async fn by_key(&self, batch: &[Entry], time: Time) -> Vec<Delivery> {
        let outage = AtomicBool::new(false);
        let runs: Vec<_> = split_by_key(batch)
            .into_iter()
            .map(|chain| self.run_chain(batch, chain, time, &outage))
            .collect();
        let mut runs = stream::iter(runs).buffer_unordered(self.concurrency);

        let mut answers = vec![Delivery::NotSent; batch.len()];
        while let Some(chain) = runs.next().await {
            for (index, answer) in chain {
                answers[index] = answer;
            }
        }
        answers
    }

    /// Runs entries of one key until one is not delivered; the rest has no answer.
    async fn run_chain(
        &self,
        batch: &[Entry],
        chain: Vec<usize>,
        time: Time,
        outage: &AtomicBool,
    ) -> Vec<(usize, Delivery)> {
        let mut answers = Vec::with_capacity(chain.len());
        for index in chain {
            if outage.load(Ordering::Relaxed) {
                break;
            }
            let answer = self.run(&batch[index], time).await;
            let goes_on = answer == Delivery::Delivered;
            if matches!(&answer, Delivery::Failed(fault) if is_outage(fault)) {
                outage.store(true, Ordering::Relaxed);
            }
            answers.push((index, answer));
            if !goes_on {
                break;
            }
        }
        answers
    }

    /// Calls every listener of one entry, in order, up to the first that fails.
    async fn run(&self, entry: &Entry, time: Time) -> Delivery {
        // Listeners that never wait would keep everything else off this thread for a whole batch.
        tokio::task::coop::consume_budget().await;
        let mut received = None;
        let mut started = None;
        for listener in self.matching(&entry.event.event_type) {
            let now = Instant::now();
            let started = *started.get_or_insert(now);
            if now >= time.until {
                return time.cut_off(listener, started);
            }
            let received = received.get_or_insert_with(|| Received::new(entry)).clone();
            match self.call(listener, received, now, time.until).await {
                End::Done => {}
                End::Failed(fault) => return Delivery::Failed(fault),
                End::CutOff => return time.cut_off(listener, started),
            }
        }
        Delivery::Delivered
    }

    async fn call(&self, listener: &Listener, event: Received, now: Instant, until: Instant) -> End {
        let limit = self.limit_of(listener);
        let limit_ends = limit.and_then(|limit| now.checked_add(limit)).filter(|ends| *ends < until);
        // The function itself runs inside the future too, so that a panic before its first `.await` is caught as well.
        // What a panic may leave half done is the listener's own: nothing of it is looked at again.
        let call = AssertUnwindSafe(async { listener.call(event).await }).catch_unwind();
        match timeout_at(limit_ends.unwrap_or(until), call).await {
            Ok(Ok(Ok(()))) => End::Done,
            Ok(Ok(Err(error))) => End::Failed(error.into_fault()),
            Ok(Err(panic)) => End::Failed(Fault::poison(format!(
                "listener {} panicked: {}",
                listener.name,
                panic_message(&*panic)
            ))),
            Err(_) if limit_ends.is_some() => End::Failed(Fault::timeout(format!(
                "listener {} was stopped at its time limit of {:?}",
                listener.name,
                limit.unwrap_or_default()
            ))),
            Err(_) => End::CutOff,
        }
    }
}

/// How a call ended.
enum End {
    Done,
    Failed(Fault),
    /// It was still running when the lease's time was over.
    CutOff,
}

impl Time {
    /// What to say of an entry that was not through when the time was over. Only one that had at least half of the
    /// time is to blame; any other is the first of the next batch, so that each gets a verdict in the end.
    fn cut_off(self, listener: &Listener, started: Instant) -> Delivery {
        let had = self.until.saturating_duration_since(started);
        let whole = self.until.saturating_duration_since(self.began);
        if had.is_zero() || had < whole / 2 {
            return Delivery::NotSent;
        }
        Delivery::Failed(Fault::timeout(format!(
            "listener {} was stopped after {had:?}, because the relay's lease lasts no longer",
            listener.name
        )))
    }
}

/// The indexes of a batch's entries, together if they have a key in common.
fn split_by_key(batch: &[Entry]) -> Vec<Vec<usize>> {
    let mut chains: Vec<Vec<usize>> = Vec::new();
    let mut by_key: HashMap<&str, usize> = HashMap::new();
    for (index, entry) in batch.iter().enumerate() {
        let new = chains.len();
        let chain = entry.event.key.as_deref().map_or(new, |key| *by_key.entry(key).or_insert(new));
        if chain == new {
            chains.push(Vec::new());
        }
        chains[chain].push(index);
    }
    chains
}

/// Whether the fault says that nothing else of the batch need be tried now.
fn is_outage(fault: &Fault) -> bool {
    matches!(fault.kind, FaultKind::Unavailable | FaultKind::Throttled { .. })
}

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}
