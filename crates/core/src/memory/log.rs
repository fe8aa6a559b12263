//! The store behind the traits that relays and operators use.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use futures_util::{StreamExt, lock::Mutex as AsyncMutex, stream::BoxStream};

use super::{MemoryStore, MemoryTransaction, bell::Bell};
use crate::{
    Act, Admin, Appended, AuditEntry, AuditFilter, Capabilities, Clock, DeadFilter, DeadGroup, DeadLetter,
    Diagnose, Event, EventFilter, EventId, EventSummary, Foreseen, Hold, Inspect, Job, Jobs, LaneStatus,
    Lease, Log, OperatorAct, Page, Paged, Pruned, Published, Read, RelayId, Result, Retention, Status,
    Subscribed, Subscription, Timeline, Timestamp, Upkeep, Worked,
};

/// A log in memory. Clones are the same log.
#[derive(Clone)]
pub struct MemoryLog {
    store: Arc<Mutex<MemoryStore>>,
    clock: Arc<dyn Clock>,
    bell: Arc<Bell>,
    /// One writer at a time, as in SQLite, so that position order is commit order.
    writer: Arc<AsyncMutex<()>>,
}

impl MemoryLog {
    /// An empty log with this many lanes (1 to 64) that goes by this clock.
    pub fn new(lanes: u8, clock: Arc<dyn Clock>) -> Self {
        Self {
            store: Arc::new(Mutex::new(MemoryStore::new(lanes))),
            clock,
            bell: Arc::new(Bell::default()),
            writer: Arc::default(),
        }
    }

    /// Begins a transaction, when the one before has ended. A task that begins a second one while it holds the first
    /// waits for itself.
    pub async fn begin(&self) -> MemoryTransaction {
        MemoryTransaction::new(self.clone(), Arc::clone(&self.writer).lock_owned().await)
    }

    /// Publishes these events in a transaction of their own.
    pub async fn publish(&self, events: &[Event]) -> Result<Vec<Published>> {
        let mut transaction = self.begin().await;
        let published = transaction.append(events)?;
        transaction.commit().await?;
        Ok(published)
    }

    /// Looks at the tables, or changes them directly. Nobody else does meanwhile.
    pub fn with_store<T>(&self, look: impl FnOnce(&mut MemoryStore) -> T) -> T {
        look(&mut self.store.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(super) fn ring(&self) {
        self.bell.ring();
    }

    fn timed<T>(&self, look: impl FnOnce(&mut MemoryStore, Timestamp) -> T) -> T {
        // The clock is asked under the lock, so that time in the store never goes back.
        self.with_store(|store| look(store, self.clock.now()))
    }
}

#[async_trait]
impl Log for MemoryLog {
    fn capabilities(&self) -> Capabilities {
        self.with_store(|store| store.capabilities())
    }

    async fn subscribe(&self, subscription: &Subscription) -> Result<Subscribed> {
        Ok(self.timed(|store, now| store.subscribe(now, subscription)))
    }

    async fn hold(&self, lease: &Lease) -> Result<Hold> {
        self.timed(|store, now| store.hold(now, lease))
    }

    async fn read(&self, read: &Read) -> Result<Page> {
        Ok(self.timed(|store, now| store.read(now, read)))
    }

    async fn append(&self, subscription: &str, relay: &RelayId, acts: &[Act]) -> Result<Vec<Appended>> {
        self.timed(|store, now| match store.refusal(acts) {
            Some(refusal) => Err(refusal),
            None => Ok(store.append(now, subscription, relay, acts)),
        })
    }

    async fn leave(&self, relay: &RelayId) -> Result<()> {
        self.with_store(|store| store.leave(relay));
        Ok(())
    }

    fn doorbell(&self) -> BoxStream<'static, ()> {
        self.bell.listen().boxed()
    }
}

#[async_trait]
impl Upkeep for MemoryLog {
    async fn prune(&self, retention: &Retention) -> Result<Pruned> {
        Ok(self.timed(|store, now| store.prune(now, retention)))
    }

    async fn work(&self) -> Result<Worked> {
        let worked = self.timed(|store, now| store.work(now));
        if worked.letters > 0 {
            self.ring();
        }
        Ok(worked)
    }
}

#[async_trait]
impl Jobs for MemoryLog {
    async fn job(&self, job_id: i64) -> Result<Job> {
        self.with_store(|store| store.jobs.get(job_id).cloned())
    }

    async fn jobs(&self) -> Result<Vec<Job>> {
        Ok(self.with_store(|store| store.jobs.latest()))
    }
}

#[async_trait]
impl Inspect for MemoryLog {
    async fn status(&self) -> Result<Status> {
        Ok(self.timed(|store, now| store.status(now)))
    }

    async fn lanes(&self, subscription: &str) -> Result<Vec<LaneStatus>> {
        self.timed(|store, now| store.lane_statuses(now, subscription))
    }

    async fn list(&self, filter: &EventFilter) -> Result<Paged<EventSummary>> {
        self.timed(|store, now| store.list(now, filter))
    }

    async fn show(&self, id: EventId) -> Result<Timeline> {
        self.timed(|store, now| store.show(now, id))
    }

    async fn dead(&self, filter: &DeadFilter) -> Result<Paged<DeadLetter>> {
        self.with_store(|store| store.dead(filter))
    }

    async fn dead_groups(&self, filter: &DeadFilter) -> Result<Vec<DeadGroup>> {
        self.with_store(|store| store.dead_groups(filter))
    }

    async fn audit(&self, filter: &AuditFilter) -> Result<Paged<AuditEntry>> {
        self.with_store(|store| store.audit(filter))
    }
}

/// There is no database.
impl Diagnose for MemoryLog {}

#[async_trait]
impl Admin for MemoryLog {
    async fn act(&self, act: &OperatorAct, by: &str) -> Result<u64> {
        let concerned = self.timed(|store, now| store.act(now, act, by))?;
        // What was replayed is due now, and a resumed subscription has work.
        self.ring();
        Ok(concerned)
    }

    async fn foresee(&self, act: &OperatorAct) -> Result<Foreseen> {
        self.with_store(|store| store.foresee(act))
    }
}
