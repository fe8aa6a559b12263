//! The outbox: where an application publishes, starts a relay and asks how things stand.

use std::{
    collections::HashSet,
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard},
};

use posthaste_core::{
    Admin, Clock, Entry, Error, Event, EventId, EventRules, IntoEvent, Origin, Position, Published, Result,
    Spot, Stamp, SystemClock, TopicRule, Unpublished,
};
use posthaste_relay::{Hot, metric};

use crate::{
    Begin, Commit, Driver, OpenOptions, Place, RelayBuilder, Staged, Transaction, UnitOfWork, ids::Ids,
    registry,
};

/// An outbox in a database. Cheap to clone.
#[derive(Clone)]
pub struct Outbox {
    inner: Arc<Inner>,
}

pub(crate) struct Inner {
    driver: Arc<dyn Driver>,
    place: Place,
    metrics_prefix: String,
    rules: EventRules,
    clock: Arc<dyn Clock>,
    ids: Ids,
    /// The relays in this process.
    hot: RwLock<Vec<Hot>>,
}

impl Outbox {
    /// Opens the outbox behind a database URL such as `sqlite://shop.db` or
    /// `postgres://user:password@host/shop`, and creates its tables if they are missing.
    pub async fn open(url: &str) -> Result<Self> {
        Self::builder(url).open().await
    }

    /// Opens an outbox with other settings.
    pub fn builder(url: impl Into<String>) -> OutboxBuilder {
        OutboxBuilder {
            url: url.into(),
            options: OpenOptions::default(),
            rules: EventRules::default(),
            metrics_prefix: metric::DEFAULT_PREFIX.to_owned(),
        }
    }

    /// Publishes an event in the caller's transaction. It exists if and only if that commits.
    ///
    /// A duplicate (same topic and idempotency key) is answered with the first event's id, and the transaction stays
    /// usable.
    ///
    /// The answer says where in the log the event is only if a relay in this process would deliver it from memory: the database is not asked
    /// for what nobody needs. [`publish_many`](Self::publish_many) always asks.
    pub async fn publish<T: Transaction>(&self, tx: &mut T, event: impl IntoEvent) -> Result<Staged> {
        let stamp = self.stamp();
        let event = event.into_event(&self.inner.rules, stamp)?;
        let (fresh, spots) = (event.id == stamp.id, self.inner.takes(&event));
        let events = vec![event];
        let published = tx.append(&self.inner.place, Unpublished { events: &events, fresh, spots }).await?;
        Ok(self.stage(events, published))
    }

    /// Publishes many events in the caller's transaction, in order, in few statements.
    pub async fn publish_many<T: Transaction, E: IntoEvent>(
        &self,
        tx: &mut T,
        events: impl IntoIterator<Item = E>,
    ) -> Result<Staged> {
        let events: Vec<Event> = events
            .into_iter()
            .map(|event| event.into_event(&self.inner.rules, self.stamp()))
            .collect::<Result<_>>()?;
        let published = tx.append(&self.inner.place, (&events).into()).await?;
        Ok(self.stage(events, published))
    }

    /// Runs `work` in a transaction, commits it and dispatches its events; rolls back if it fails.
    ///
    /// ```
    /// # async fn place(outbox: posthaste::Outbox, pool: posthaste::sqlite::SqlitePool) -> Result<(), posthaste::Error> {
    /// use posthaste::Event;
    ///
    /// let published = outbox
    ///     .transaction(&pool, async |tx| {
    ///         // sqlx::query("insert into orders …").execute(&mut ***tx).await?;
    ///         tx.publish(Event::of("order.placed").aggregate("order", 7).json(&7)?).await
    ///     })
    ///     .await?;
    /// # _ = published; Ok(()) }
    /// ```
    pub async fn transaction<P, R, E, W>(&self, pool: &P, work: W) -> Result<R, E>
    where
        P: Begin,
        E: From<Error>,
        W: for<'u> AsyncFnOnce(&'u mut UnitOfWork<P>) -> Result<R, E>,
    {
        let transaction = pool.begin().await?;
        let mut unit: UnitOfWork<P> =
            UnitOfWork { outbox: self.clone(), transaction, staged: self.nothing_staged() };
        // Dropping the transaction rolls it back.
        let answer = work(&mut unit).await?;
        self.commit(unit.transaction, unit.staged).await?;
        Ok(answer)
    }

    /// Commits a transaction and dispatches its events, those without order from memory.
    pub async fn commit<T: Commit>(&self, mut tx: T, mut staged: Staged) -> Result<()> {
        self.keep_what_commits(&mut tx, &mut staged).await?;
        tx.commit().await?;
        staged.committed();
        Ok(())
    }

    /// What would be delivered from memory must be what is committed. Its savepoint may have been rolled back since, and its
    /// position given to another event: then it is not there, or not under that id.
    async fn keep_what_commits<T: Commit>(&self, tx: &mut T, staged: &mut Staged) -> Result<()> {
        if staged.entries.is_empty() {
            return Ok(());
        }
        let positions: Vec<Position> = staged.entries.iter().map(|entry| entry.position).collect();
        let there: HashSet<EventId> = tx.find(&self.inner.place, &positions).await?.into_iter().collect();
        staged.entries.retain(|entry| there.contains(&entry.event.id));
        Ok(())
    }

    /// Puts a relay together that delivers from this outbox.
    pub fn relay(&self) -> RelayBuilder {
        RelayBuilder::new(self.clone())
    }

    /// What operators can ask and do.
    #[must_use]
    pub fn admin(&self) -> &dyn Admin {
        self.inner.driver.as_ref()
    }

    /// The log and the operators' side, as a driver.
    #[must_use]
    pub fn driver(&self) -> Arc<dyn Driver> {
        Arc::clone(&self.inner.driver)
    }

    pub(crate) fn metrics_prefix(&self) -> &str {
        &self.inner.metrics_prefix
    }

    pub(crate) fn add_hot(&self, hot: Hot) {
        let mut list = self.inner.hot.write().unwrap_or_else(PoisonError::into_inner);
        list.retain(|hot| !hot.is_closed());
        list.push(hot);
    }

    fn stamp(&self) -> Stamp {
        self.inner.ids.stamp(self.inner.clock.as_ref())
    }

    fn nothing_staged(&self) -> Staged {
        Staged { outbox: Arc::clone(&self.inner), published: Vec::new(), entries: Vec::new() }
    }

    fn stage(&self, events: Vec<Event>, published: Vec<Published>) -> Staged {
        let added = published.iter().filter(|published| !published.duplicate).count();
        metric::published(&self.inner.metrics_prefix, added as u64);
        let mut staged = self.nothing_staged();
        for (event, published) in events.into_iter().zip(&published) {
            if let Some(spot) = published.spot
                && !published.duplicate
                && self.inner.takes(&event)
            {
                staged.entries.push(fresh_entry(Event { version: published.version, ..event }, spot));
            }
        }
        staged.published = published;
        staged
    }
}

/// An event as the log would hand it out if it was read now.
fn fresh_entry(event: Event, Spot { position, lane }: Spot) -> Entry {
    Entry {
        position,
        lane,
        event,
        origin: Origin::Log,
        attempts: 0,
        blocked: false,
        delayed: false,
        defect: None,
    }
}

impl Inner {
    /// Something was committed that neither this process nor others have heard of.
    pub(crate) fn ring(&self) {
        self.ring_elsewhere();
        for hot in self.hot().iter() {
            hot.ring();
        }
    }

    /// Unless the relay here knows of no other: to ring elsewhere costs the database a transaction, and the relay here hears it once more.
    fn ring_elsewhere(&self) {
        if !self.hot().iter().any(Hot::is_alone) {
            self.driver.ring();
        }
    }

    fn hot(&self) -> RwLockReadGuard<'_, Vec<Hot>> {
        self.hot.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a relay in this process would deliver the event from memory.
    fn takes(&self, event: &Event) -> bool {
        self.hot().iter().any(|hot| hot.takes(event))
    }

    /// These were committed, as Posthaste itself saw, and perhaps others with them, which are to be read.
    pub(crate) fn dispatch(&self, entries: &[Entry], others: bool) {
        self.ring_elsewhere();
        for hot in self.hot().iter() {
            hot.dispatch(entries);
            if others {
                hot.ring();
            }
        }
    }
}

/// Opens an outbox with settings of its own.
#[must_use = "call open()"]
pub struct OutboxBuilder {
    url: String,
    options: OpenOptions,
    rules: EventRules,
    metrics_prefix: String,
}

impl OutboxBuilder {
    /// The schema of the tables, in PostgreSQL; the connection's search path decides unless set. It is created with the tables.
    pub fn schema(mut self, schema: impl Into<String>) -> Self {
        self.options.schema = Some(schema.into());
        self
    }

    /// What the names of the tables begin with; `outbox` unless set.
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.options.prefix = prefix.into();
        self
    }

    /// How many lanes a new log gets: 1 to 64, 64 unless set. An existing log must have as many.
    pub fn lanes(mut self, lanes: u8) -> Self {
        self.options.lanes = Some(lanes);
        self
    }

    /// Does not create or update the tables: they must be there.
    pub fn without_migration(mut self) -> Self {
        self.options.migrate = false;
        self
    }

    /// Does not create a database file that is missing: a wrong path is an error then, and not a new, empty outbox.
    pub fn without_creation(mut self) -> Self {
        self.options.create = false;
        self
    }

    /// The address is that of a pooler in transaction mode, such as PgBouncer in front of PostgreSQL: nothing is kept in a session then,
    /// neither of the log's connections nor of those in which something is published, and relays here hear of what other processes commit
    /// by polling.
    pub fn behind_a_pooler(mut self) -> Self {
        self.options.pooler = true;
        self
    }

    /// The largest payload in bytes; 1 MiB unless set. A larger one is refused when it is published, and a dead letter if somebody
    /// has written it all the same.
    pub fn payload_limit(mut self, bytes: usize) -> Self {
        self.rules.payload_limit = bytes;
        self.options.payload_limit = bytes;
        self
    }

    /// Where events without a topic go; the event type is the topic unless set.
    pub fn topic_rule(mut self, rule: TopicRule) -> Self {
        self.rules.topic = rule;
        self
    }

    /// The prefix of all metrics' names; `outbox` unless set.
    pub fn metrics_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.metrics_prefix = prefix.into();
        self
    }

    /// Another clock than the database's and the system's, for tests.
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.options.clock = Some(clock);
        self
    }

    /// Opens it.
    pub async fn open(self) -> Result<Outbox> {
        let Self { url, options, rules, metrics_prefix } = self;
        let (schema, prefix) = (options.schema.clone(), options.prefix.clone());
        let place = Place { schema, prefix, pooler: options.pooler };
        let clock = options.clock.clone().unwrap_or_else(|| Arc::new(SystemClock));
        let driver = registry::open(&url, options).await?;
        let ids = Ids::new();
        let inner = Inner { driver, place, metrics_prefix, rules, clock, ids, hot: RwLock::default() };
        Ok(Outbox { inner: Arc::new(inner) })
    }
}

impl std::fmt::Debug for Outbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Outbox").field("place", &self.inner.place).finish_non_exhaustive()
    }
}
