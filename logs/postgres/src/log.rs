//! The log itself: its connections, and the traits it implements by the modules beside this one.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, PoisonError, atomic::AtomicI64},
};

use async_trait::async_trait;
use futures_util::stream::BoxStream;
use posthaste_core::{
    Act, Appended, Capabilities, Hold, Lease, Log, Page, Pruned, Read, RelayId, Result, Retention,
    Subscribed, Subscription, Upkeep, Worked, driver::Layout,
};
use sqlx::{PgPool, SqlStr, postgres::PgPoolOptions};

use crate::{
    admin::Desks,
    append,
    doorbell::{self, Bell},
    hold,
    migrate::{Found, KNOWN_VERSION, migrate, nothing_there},
    options::{PostgresOptions, Purpose, Source},
    prune, read,
    slot::{Slot, Slots, check_cluster, cluster},
    statements::{Bound, Place, Statements},
    subscribe,
    value::Time,
    window::Memory,
    work,
};

/// A new log has this many lanes unless told otherwise.
pub(crate) const DEFAULT_LANES: u8 = 64;

/// An application that brings no pool of its own gets a small one.
pub(crate) const POOL_SIZE: u32 = 4;

/// The log in a PostgreSQL database. Clones are the same log.
#[derive(Clone)]
pub struct PostgresLog {
    inner: Arc<Inner>,
}

/// What all operations share. Each kind of work has a connection of its own, so that a long read never delays a renewal, nor
/// an operator's question a settlement.
pub(crate) struct Inner {
    pub(crate) statements: Arc<Statements>,
    pub(crate) place: Place,
    pub(crate) layout: Layout,
    pub(crate) options: PostgresOptions,
    pub(crate) source: Source,
    pub(crate) readers: Readers,
    pub(crate) appenders: Slots,
    pub(crate) hold: Slot,
    pub(crate) upkeep: Slot,
    pub(crate) desks: Desks,
    /// Where pruning goes on.
    pub(crate) pruned_to: AtomicI64,
    bell: Bell,
    pool: PgPool,
}

/// One connection for each subscription that is read, and what is remembered of its windows.
pub(crate) struct Readers {
    pub(crate) source: Source,
    pub(crate) cluster: String,
    slots: Mutex<HashMap<String, Arc<ReadingSlot>>>,
}

pub(crate) struct ReadingSlot {
    pub(crate) slot: Slot,
    pub(crate) memory: Mutex<Memory>,
}

impl Readers {
    pub(crate) fn of(&self, name: &str) -> Arc<ReadingSlot> {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(slot) = slots.get(name) {
            return Arc::clone(slot);
        }
        let slot = Slot::new(&self.source, Purpose::Reading, Some(&self.cluster));
        let slot = Arc::new(ReadingSlot { slot, memory: Mutex::default() });
        slots.insert(name.to_owned(), Arc::clone(&slot));
        slot
    }
}

impl PostgresLog {
    /// Opens the log in the database that `url` names: `postgres://user:password@host:port/database`.
    ///
    /// Fails if the tables are not there, unless the options say to make them; if they are of a version that this program does not
    /// know, or of another database cluster; and if the log has another number of lanes than the options ask for.
    pub async fn open(url: &str, options: PostgresOptions) -> Result<Self> {
        options.validate()?;
        let place = Place::new(options.schema.as_deref(), &options.prefix)?;
        let source = Source::parse(url, &options)?;
        let statements = Statements::of(&place);
        let first = Slot::new(&source, Purpose::Any, None);
        let mut connection = first.take().await?;
        // Looked at first without a lock: most of the time there is nothing to migrate.
        let mut found = Found::find(&mut connection, &place).await?;
        let is_old = |found: &Found| found.layout.is_older_than(KNOWN_VERSION);
        if options.migrate && found.as_ref().is_none_or(is_old) {
            found = Some(migrate(&mut connection, &place, options.lanes.unwrap_or(DEFAULT_LANES)).await?);
        }
        let Found { layout, cluster: ours } = found.ok_or_else(|| nothing_there(&place))?;
        layout.check(KNOWN_VERSION, options.lanes)?;
        check_cluster(&ours, &cluster(&mut connection).await?)?;
        connection.put_back().await?;
        let known = Some(ours.as_str());
        let inner = Inner {
            readers: Readers { source: source.clone(), cluster: ours.clone(), slots: Mutex::default() },
            appenders: Slots::new(source.clone(), known),
            hold: Slot::new(&source, Purpose::Relaying, known),
            upkeep: Slot::new(&source, Purpose::Relaying, known),
            desks: Desks::new(&source, known),
            pruned_to: AtomicI64::new(0),
            bell: Bell::new(&source, &place, &statements),
            pool: PgPoolOptions::new()
                .max_connections(POOL_SIZE)
                .connect_lazy_with(source.connect_options(Purpose::Any)),
            statements,
            place,
            layout,
            options,
            source,
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// A small pool on the same database, for an application. Nothing is opened until it is used.
    #[must_use]
    pub fn pool(&self) -> &PgPool {
        &self.inner.pool
    }

    /// Where the tables are.
    #[must_use]
    pub fn place(&self) -> &Place {
        &self.inner.place
    }

    /// Rings the doorbell of relays in other processes, soon, and once for many calls. To be called after a commit.
    pub fn ring(&self) {
        self.inner.bell.ring();
    }

    pub(crate) fn inner(&self) -> &Inner {
        &self.inner
    }
}

impl Inner {
    /// What is bound for the time: nothing for the database's own clock.
    pub(crate) fn now(&self) -> Option<Time> {
        self.options.clock.as_ref().map(|clock| Time(clock.now()))
    }

    /// A statement of the log's, kept ready on its connection. Behind a pooler nothing is: the next statement may meet another session,
    /// which knows it not, or knows another by its name.
    pub(crate) fn query(&self, sql: &SqlStr) -> Bound<'static> {
        sqlx::query(sql.clone()).persistent(!self.source.pooler)
    }

    /// The number of lanes as it is bound.
    pub(crate) fn lanes(&self) -> i32 {
        i32::from(self.layout.lanes)
    }

    /// The limit of a payload as it is bound.
    pub(crate) fn payload_limit(&self) -> i32 {
        i32::try_from(self.options.payload_limit).unwrap_or(i32::MAX)
    }
}

#[async_trait]
impl Log for PostgresLog {
    fn capabilities(&self) -> Capabilities {
        Capabilities { lanes: self.inner.layout.lanes, doorbell: !self.inner.options.pooler }
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
        doorbell::doorbell(&self.inner.source, &self.inner.place)
    }
}

#[async_trait]
impl Upkeep for PostgresLog {
    async fn prune(&self, retention: &Retention) -> Result<Pruned> {
        prune::prune(&self.inner, retention).await
    }

    async fn work(&self) -> Result<Worked> {
        work::work(&self.inner).await
    }
}

impl fmt::Debug for PostgresLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresLog")
            .field("address", &self.inner.source.address())
            .field("place", &self.inner.place)
            .field("layout", &self.inner.layout)
            .finish_non_exhaustive()
    }
}
