//! The log itself: its connections, and the traits it implements by the modules beside this one.

use std::{fmt, sync::Arc};

use async_trait::async_trait;
use futures_util::stream::BoxStream;
use posthaste_core::{
    Act, Appended, Capabilities, Clock, Hold, Lease, Log, Page, Pruned, Read, RelayId, Result, Retention,
    Subscribed, Subscription, Timestamp, Upkeep, Worked, driver::Layout,
};
use sqlx::{SqlitePool, sqlite::SqliteConnectOptions};

use crate::{
    append, doorbell, hold,
    migrate::{KNOWN_VERSION, find_layout, migrate, nothing_there},
    options::{Source, SqliteOptions},
    prune, read,
    slot::Slot,
    statements::{Prefix, Statements},
    subscribe,
    transaction::lazy_pool,
    work,
};

/// A new log has this many lanes unless told otherwise.
const DEFAULT_LANES: u8 = 64;

/// The log in an SQLite file. Clones are the same log.
#[derive(Clone)]
pub struct SqliteLog {
    inner: Arc<Inner>,
}

/// What all operations share. Each kind of work has a connection of its own, so that a long read never delays a renewal, nor
/// an operator's question a settlement.
pub(crate) struct Inner {
    pub(crate) statements: Arc<Statements>,
    pub(crate) layout: Layout,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) read: Slot,
    pub(crate) append: Slot,
    pub(crate) hold: Slot,
    pub(crate) prune: Slot,
    pub(crate) admin: Slot,
    pub(crate) options: SqliteOptions,
    pub(crate) source: Source,
    pool: SqlitePool,
}

impl SqliteLog {
    /// Opens the log in the file that `url` names: `sqlite://path` or `sqlite:path`.
    ///
    /// Fails if the file or its tables are not there, unless the options say to make them; if the tables are of a version that
    /// this program does not know; and if the log has another number of lanes than the options ask for.
    pub async fn open(url: &str, options: SqliteOptions) -> Result<Self> {
        options.validate()?;
        let prefix = Prefix::new(&options.prefix)?;
        let source = Source::parse(url, &options)?;
        let statements = Statements::of(prefix.as_str())?;
        let patience = options.busy_timeout;
        let first = Slot::new(source.first(), patience);
        let mut connection = first.take().await?;
        // Looked at first without a lock: most of the time there is nothing to migrate.
        let mut layout = find_layout(&mut connection, &statements).await?;
        if options.migrate && layout.is_none_or(|layout| layout.is_older_than(KNOWN_VERSION)) {
            layout = Some(migrate(&mut connection, &prefix, options.lanes.unwrap_or(DEFAULT_LANES)).await?);
        }
        let layout = layout.ok_or_else(|| nothing_there(&prefix))?;
        let layout = layout.check(KNOWN_VERSION, options.lanes)?;
        connection.put_back();
        first.close().await?;
        let inner = Inner {
            statements,
            layout,
            clock: Arc::clone(&options.clock),
            read: Slot::new(source.own(), patience),
            append: Slot::new(source.settling(), patience),
            hold: Slot::new(source.settling(), patience),
            prune: Slot::new(source.own(), patience),
            admin: Slot::new(source.operators(), patience),
            pool: lazy_pool(&source),
            options,
            source,
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// A small pool on the same file, for the application: write-ahead log, foreign keys, everything it commits on the
    /// disk. Nothing is opened until it is used.
    #[must_use]
    pub fn pool(&self) -> &SqlitePool {
        &self.inner.pool
    }

    /// How connections of an application to the same file are best made, for a pool of its own.
    #[must_use]
    pub fn connect_options(&self) -> SqliteConnectOptions {
        self.inner.source.application()
    }

    /// Closes all connections, the pool's too, when whoever works with one is done. The last to close a file lets SQLite put the
    /// write-ahead log into it and remove the two files beside it. Nothing is lost without this: what is in them is read when the
    /// file is opened next. A log that is used again opens what it needs, but its pool stays closed.
    pub async fn close(&self) -> Result<()> {
        self.inner.pool.close().await;
        for slot in self.inner.slots() {
            slot.close().await?;
        }
        Ok(())
    }

    /// What the tables of this log begin with.
    #[must_use]
    pub fn prefix(&self) -> &str {
        &self.inner.options.prefix
    }

    pub(crate) fn inner(&self) -> &Inner {
        &self.inner
    }
}

impl Inner {
    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(crate) fn slots(&self) -> [&Slot; 5] {
        [&self.read, &self.append, &self.hold, &self.prune, &self.admin]
    }

    /// Lets every connection be opened anew before it is used again.
    pub(crate) fn reopen(&self) {
        self.slots().into_iter().for_each(Slot::reopen);
    }

    /// The most bytes of a payload that is loaded, as they are bound.
    pub(crate) fn payload_limit(&self) -> i64 {
        i64::try_from(self.options.payload_limit).unwrap_or(i64::MAX)
    }

    /// The number of lanes as it is bound.
    pub(crate) fn lanes(&self) -> i64 {
        i64::from(self.layout.lanes)
    }
}

#[async_trait]
impl Log for SqliteLog {
    fn capabilities(&self) -> Capabilities {
        Capabilities { lanes: self.inner.layout.lanes, doorbell: true }
    }

    async fn subscribe(&self, subscription: &Subscription) -> Result<Subscribed> {
        subscribe::subscribe(&self.inner, subscription).await
    }

    async fn hold(&self, lease: &Lease) -> Result<Hold> {
        hold::hold(&self.inner, lease).await
    }

    async fn read(&self, read: &Read) -> Result<Page> {
        read::read(&self.inner, read).await
    }

    async fn append(&self, subscription: &str, relay: &RelayId, acts: &[Act]) -> Result<Vec<Appended>> {
        append::append(&self.inner, subscription, relay, acts).await
    }

    async fn leave(&self, relay: &RelayId) -> Result<()> {
        hold::leave(&self.inner, relay).await
    }

    fn doorbell(&self) -> BoxStream<'static, ()> {
        doorbell::doorbell(
            self.inner.source.own(),
            self.inner.statements.doorbell.clone(),
            self.inner.options.doorbell_interval,
        )
    }
}

#[async_trait]
impl Upkeep for SqliteLog {
    async fn prune(&self, retention: &Retention) -> Result<Pruned> {
        prune::prune(&self.inner, retention).await
    }

    async fn work(&self) -> Result<Worked> {
        work::work(&self.inner).await
    }
}

impl fmt::Debug for SqliteLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteLog")
            .field("path", &self.inner.source.path())
            .field("prefix", &self.inner.options.prefix)
            .field("layout", &self.inner.layout)
            .finish_non_exhaustive()
    }
}
