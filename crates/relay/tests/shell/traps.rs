//! Logs and sinks that panic or hang where a test says so.

use std::{
    collections::VecDeque,
    future::{Future, pending},
    pin::Pin,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use async_trait::async_trait;
use futures_util::stream::BoxStream;
use posthaste_core::{
    Act, Appended, Capabilities, Delivery, Entry, EventId, Fault, Hold, Lease, Log, Page, Pruned, Read,
    RelayId, Result, Retention, Sink, Subscribed, Subscription, Upkeep, Worked, memory::MemoryLog,
};
use posthaste_testkit::{FlakySink, failing_log::Operation};
use tokio::sync::watch;

use crate::stage::pass;

/// What happens to whoever falls into a trap.
#[derive(Clone, Debug)]
pub(crate) enum Trap {
    Panic,
    /// When the gate is opened.
    PanicBehind(watch::Receiver<bool>),
    Hang,
    /// Answers, but only after this long.
    Slow(Duration),
}

/// A log with traps. Each is good for one call.
pub(crate) struct TrapLog {
    inner: MemoryLog,
    traps: Mutex<VecDeque<(Operation, Trap)>>,
}

impl TrapLog {
    pub(crate) fn new(inner: &MemoryLog) -> Self {
        Self { inner: inner.clone(), traps: Mutex::default() }
    }

    /// The next call of this operation falls into the trap.
    pub(crate) fn set(&self, operation: Operation, trap: Trap) {
        self.traps.lock().unwrap_or_else(PoisonError::into_inner).push_back((operation, trap));
    }

    /// Whether somebody has fallen into each.
    pub(crate) fn are_sprung(&self) -> bool {
        self.traps.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    async fn step(&self, operation: Operation) {
        let trap = {
            let mut traps = self.traps.lock().unwrap_or_else(PoisonError::into_inner);
            let index = traps.iter().position(|(trapped, _)| *trapped == operation);
            index.and_then(|index| traps.remove(index))
        };
        match trap {
            Some((_, Trap::Panic)) => panic!("{operation:?} panics on purpose"),
            Some((_, Trap::PanicBehind(mut gate))) => {
                _ = gate.wait_for(|open| *open).await;
                panic!("{operation:?} panics on purpose, behind the gate")
            }
            Some((_, Trap::Hang)) => pending().await,
            Some((_, Trap::Slow(span))) => pass(span).await,
            None => {}
        }
    }
}

#[async_trait]
impl Log for TrapLog {
    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    async fn subscribe(&self, subscription: &Subscription) -> Result<Subscribed> {
        self.inner.subscribe(subscription).await
    }

    async fn hold(&self, lease: &Lease) -> Result<Hold> {
        self.step(Operation::Hold).await;
        self.inner.hold(lease).await
    }

    async fn read(&self, read: &Read) -> Result<Page> {
        self.step(Operation::Read).await;
        self.inner.read(read).await
    }

    /// Takes effect before it falls, which is worse than after.
    async fn append(&self, subscription: &str, relay: &RelayId, acts: &[Act]) -> Result<Vec<Appended>> {
        let answer = self.inner.append(subscription, relay, acts).await;
        self.step(Operation::Append).await;
        answer
    }

    async fn leave(&self, relay: &RelayId) -> Result<()> {
        self.step(Operation::Leave).await;
        self.inner.leave(relay).await
    }

    fn doorbell(&self) -> BoxStream<'static, ()> {
        self.inner.doorbell()
    }
}

#[async_trait]
impl Upkeep for TrapLog {
    async fn prune(&self, retention: &Retention) -> Result<Pruned> {
        self.step(Operation::Prune).await;
        self.inner.prune(retention).await
    }

    async fn work(&self) -> Result<Worked> {
        self.step(Operation::Work).await;
        self.inner.work().await
    }
}

/// A sink that hangs for ever on one event.
pub(crate) struct HangingSink {
    pub(crate) inner: FlakySink,
    pub(crate) on: EventId,
}

#[async_trait]
impl Sink for HangingSink {
    async fn deliver(&self, batch: &[Entry], until: Instant) -> Vec<Delivery> {
        if batch.iter().any(|entry| entry.event.id == self.on) {
            pending::<()>().await;
        }
        self.inner.deliver(batch, until).await
    }

    async fn ping(&self) -> Result<(), Fault> {
        self.inner.ping().await
    }
}

/// A sink that waits before a gate.
pub(crate) struct GatedSink {
    pub(crate) inner: FlakySink,
    pub(crate) gate: watch::Receiver<bool>,
}

#[async_trait]
impl Sink for GatedSink {
    async fn deliver(&self, batch: &[Entry], until: Instant) -> Vec<Delivery> {
        _ = self.gate.clone().wait_for(|open| *open).await;
        self.inner.deliver(batch, until).await
    }

    async fn ping(&self) -> Result<(), Fault> {
        self.inner.ping().await
    }
}

/// A sink that takes everything and writes down until when it might have.
#[derive(Default)]
pub(crate) struct UntilSink(pub(crate) Mutex<Vec<Instant>>);

#[async_trait]
impl Sink for UntilSink {
    async fn deliver(&self, batch: &[Entry], until: Instant) -> Vec<Delivery> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(until);
        vec![Delivery::Delivered; batch.len()]
    }

    async fn ping(&self) -> Result<(), Fault> {
        Ok(())
    }
}

/// A sink that panics before it even returns a future, whenever one event is in the batch.
pub(crate) struct RashSink {
    pub(crate) inner: FlakySink,
    pub(crate) on: EventId,
}

impl Sink for RashSink {
    fn deliver<'a, 'b, 'c>(
        &'a self,
        batch: &'b [Entry],
        until: Instant,
    ) -> Pin<Box<dyn Future<Output = Vec<Delivery>> + Send + 'c>>
    where
        'a: 'c,
        'b: 'c,
    {
        assert!(batch.iter().all(|entry| entry.event.id != self.on), "the sink panics on purpose");
        self.inner.deliver(batch, until)
    }

    fn ping<'a, 'c>(&'a self) -> Pin<Box<dyn Future<Output = Result<(), Fault>> + Send + 'c>>
    where
        'a: 'c,
    {
        panic!("the sink panics on purpose when it is pinged")
    }
}
