//! A log whose operations fail as a test tells it to: before they took effect, or after, when only the answer is lost.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use fastrand::Rng;
use futures_util::stream::BoxStream;
use posthaste_core::{
    Act, Appended, Capabilities, Error, ErrorKind, Hold, Lease, Log, Page, Pruned, Read, RelayId, Result,
    Retention, Subscribed, Subscription, Upkeep, Worked,
};

/// A log around another that fails on purpose.
#[derive(Debug)]
pub struct FailingLog<L> {
    inner: L,
    plan: Mutex<Plan>,
}

/// What can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operation {
    /// [`Log::subscribe`].
    Subscribe,
    /// [`Log::hold`].
    Hold,
    /// [`Log::read`].
    Read,
    /// [`Log::append`].
    Append,
    /// [`Log::leave`].
    Leave,
    /// [`Upkeep::prune`].
    Prune,
    /// [`Upkeep::work`].
    Work,
}

/// When an operation fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Nothing has happened.
    Before,
    /// It has happened, and the answer is lost.
    After,
}

/// How many of a thousand operations fail by chance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Chance {
    /// Before they took effect.
    pub before: u16,
    /// After they took effect.
    pub after: u16,
}

#[derive(Debug, Default)]
struct Plan {
    down: bool,
    refuses: Option<fn(&Act) -> bool>,
    next: BTreeMap<Operation, (When, u32)>,
    chance: Option<(Rng, Chance)>,
    calls: BTreeMap<Operation, u64>,
    failures: BTreeMap<Operation, u64>,
}

impl<L: Log> FailingLog<L> {
    /// Around this log; nothing fails until it is told so.
    pub fn new(inner: L) -> Self {
        Self { inner, plan: Mutex::default() }
    }

    /// The log inside, which does not fail.
    pub fn inner(&self) -> &L {
        &self.inner
    }

    /// Lets this operation fail the next so many times.
    pub fn fail(&self, operation: Operation, when: When, times: u32) {
        self.plan().next.insert(operation, (when, times));
    }

    /// Lets every operation fail from now on, as if the database were gone.
    pub fn go_down(&self) {
        self.plan().down = true;
    }

    /// Is there again.
    pub fn come_up(&self) {
        self.plan().down = false;
    }

    /// Refuses from now on every append with such an act in it, as a constraint of the database does; none if there is no rule.
    pub fn refuse(&self, refuses: Option<fn(&Act) -> bool>) {
        self.plan().refuses = refuses;
    }

    /// Lets operations fail by chance. The same seed gives the same faults in the same order of calls.
    pub fn fail_by_chance(&self, seed: u64, chance: Chance) {
        self.plan().chance = Some((Rng::with_seed(seed), chance));
    }

    /// How often the operation was asked for.
    pub fn calls(&self, operation: Operation) -> u64 {
        self.plan().calls.get(&operation).copied().unwrap_or(0)
    }

    /// How often it failed on purpose.
    pub fn failures(&self, operation: Operation) -> u64 {
        self.plan().failures.get(&operation).copied().unwrap_or(0)
    }

    fn plan(&self) -> MutexGuard<'_, Plan> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs the operation unless it fails before, and loses its answer if it fails after.
    async fn run<T: Send>(
        &self,
        operation: Operation,
        work: impl Future<Output = Result<T>> + Send,
    ) -> Result<T> {
        let when = self.plan().draw(operation);
        if when == Some(When::Before) {
            return Err(Error::new(ErrorKind::Unavailable, format!("{operation:?}: refused on purpose")));
        }
        let answer = work.await;
        if when == Some(When::After) {
            return Err(Error::new(ErrorKind::Unavailable, format!("{operation:?}: answer lost on purpose")));
        }
        answer
    }
}

impl Plan {
    fn draw(&mut self, operation: Operation) -> Option<When> {
        *self.calls.entry(operation).or_default() += 1;
        let when = self.next_fault(operation);
        if when.is_some() {
            *self.failures.entry(operation).or_default() += 1;
        }
        when
    }

    fn next_fault(&mut self, operation: Operation) -> Option<When> {
        if self.down {
            return Some(When::Before);
        }
        if let Some((when, left)) = self.next.get_mut(&operation)
            && *left > 0
        {
            *left -= 1;
            return Some(*when);
        }
        let (rng, chance) = self.chance.as_mut()?;
        match rng.u16(..1_000) {
            drawn if drawn < chance.before => Some(When::Before),
            drawn if drawn < chance.before + chance.after => Some(When::After),
            _ => None,
        }
    }
}

#[async_trait]
impl<L: Log> Log for FailingLog<L> {
    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    async fn subscribe(&self, subscription: &Subscription) -> Result<Subscribed> {
        self.run(Operation::Subscribe, self.inner.subscribe(subscription)).await
    }

    async fn hold(&self, lease: &Lease) -> Result<Hold> {
        self.run(Operation::Hold, self.inner.hold(lease)).await
    }

    async fn read(&self, read: &Read) -> Result<Page> {
        self.run(Operation::Read, self.inner.read(read)).await
    }

    async fn append(&self, subscription: &str, relay: &RelayId, acts: &[Act]) -> Result<Vec<Appended>> {
        let refuses = self.plan().refuses;
        if refuses.is_some_and(|refuses| acts.iter().any(refuses)) {
            return Err(Error::new(ErrorKind::Refused, "append: refused on purpose by a rule"));
        }
        self.run(Operation::Append, self.inner.append(subscription, relay, acts)).await
    }

    async fn leave(&self, relay: &RelayId) -> Result<()> {
        self.run(Operation::Leave, self.inner.leave(relay)).await
    }

    fn doorbell(&self) -> BoxStream<'static, ()> {
        self.inner.doorbell()
    }
}

#[async_trait]
impl<L: Log> Upkeep for FailingLog<L> {
    async fn prune(&self, retention: &Retention) -> Result<Pruned> {
        self.run(Operation::Prune, self.inner.prune(retention)).await
    }

    async fn work(&self) -> Result<Worked> {
        self.run(Operation::Work, self.inner.work()).await
    }
}
