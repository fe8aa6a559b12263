//! How a log in PostgreSQL is opened.

use std::{fmt, str::FromStr, sync::Arc};

use posthaste_core::{Clock, DEFAULT_PAYLOAD_LIMIT, Error, MAX_LANES, Result};
use sqlx::{ConnectOptions, postgres::PgConnectOptions};

use crate::error::failed;

/// How a log is opened. [`Default`] fits a program beside an application that has migrated already.
#[derive(Clone)]
pub struct PostgresOptions {
    /// The schema of the tables; without one the search path decides.
    pub schema: Option<String>,
    /// The tables begin with this: lower-case letters, digits and `_`, at most 40.
    pub prefix: String,
    /// How many lanes a new log gets, 1 to 64; 64 unless set. The number of an existing log never changes: another one
    /// here is an error.
    pub lanes: Option<u8>,
    /// Another clock than the database's own, for tests.
    pub clock: Option<Arc<dyn Clock>>,
    /// Whether to create the tables, or bring them up to date.
    pub migrate: bool,
    /// Whether the address is that of a pooler in transaction mode, such as PgBouncer: then every piece of work is a transaction, no
    /// statement stays prepared, and nobody listens for the doorbell.
    pub pooler: bool,
    /// An event whose payload has more bytes is never delivered.
    pub payload_limit: usize,
}

impl Default for PostgresOptions {
    fn default() -> Self {
        Self {
            schema: None,
            prefix: "outbox".to_owned(),
            lanes: None,
            clock: None,
            migrate: false,
            pooler: false,
            payload_limit: DEFAULT_PAYLOAD_LIMIT,
        }
    }
}

impl fmt::Debug for PostgresOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresOptions")
            .field("schema", &self.schema)
            .field("prefix", &self.prefix)
            .field("lanes", &self.lanes)
            .field("migrate", &self.migrate)
            .field("pooler", &self.pooler)
            .field("payload_limit", &self.payload_limit)
            .finish_non_exhaustive()
    }
}

impl PostgresOptions {
    /// Says what is wrong with the options, but for the names of tables.
    pub(crate) fn validate(&self) -> Result<()> {
        match self.lanes {
            Some(lanes) if !(1..=MAX_LANES).contains(&lanes) => {
                Err(Error::invalid(format!("postgres: lanes is {lanes}; 1 to {MAX_LANES} are possible")))
            }
            _ => Ok(()),
        }
    }
}

/// How connections to one database are made.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    base: PgConnectOptions,
    pub(crate) pooler: bool,
}

impl Source {
    /// Understands `postgres://user:password@host:port/database` and what PostgreSQL allows behind a `?`.
    pub(crate) fn parse(url: &str, options: &PostgresOptions) -> Result<Self> {
        if !(url.starts_with("postgres://") || url.starts_with("postgresql://")) {
            return Err(Error::invalid(
                "this is no address of a PostgreSQL database; write postgres://user:password@host:port/database",
            ));
        }
        let base = PgConnectOptions::from_str(url).map_err(failed("understand the postgres address"))?;
        // Sqlx prepares its report of a statement whether or not anybody listens.
        let listened_to = tracing::enabled!(target: "sqlx::query", tracing::Level::DEBUG);
        let base = if listened_to { base } else { base.disable_statement_logging() };
        Ok(Self { base: base.application_name("posthaste"), pooler: options.pooler })
    }

    /// Where the database is, without the password.
    pub(crate) fn address(&self) -> String {
        let database = self.base.get_database().unwrap_or(self.base.get_username());
        format!("{}:{}/{database}", self.base.get_host(), self.base.get_port())
    }

    pub(crate) fn connect_options(&self, purpose: Purpose) -> PgConnectOptions {
        match purpose {
            // A pooler may give the next statement to another server session, which knows nothing of the first.
            _ if self.pooler => self.base.clone().statement_cache_capacity(0).extra_float_digits(None),
            // Also a list of no settings would be sent, and PgBouncer refuses it.
            Purpose::Any => self.base.clone(),
            _ => self.base.clone().options(purpose.settings()),
        }
    }

    /// What begins each piece of work behind a pooler, where no setting outlives a transaction.
    pub(crate) fn opening(&self, purpose: Purpose) -> Option<String> {
        let set = purpose.settings().map(|(name, value)| format!("; set local {name} = '{value}'"));
        self.pooler.then(|| format!("{BEGIN}{}", set.collect::<String>()))
    }
}

/// What a connection is for. Each purpose has the settings of those before it, and more.
#[derive(Clone, Copy)]
pub(crate) enum Purpose {
    /// The application's, and what is not in a hurry: as the server has it.
    Any,
    /// What people ask, and wait for: much of it has to be sorted.
    Asking,
    /// What relays run again and again, with plans that stay right while tables grow from nothing to millions of rows.
    Relaying,
    /// The hot loop.
    Reading,
}

impl Purpose {
    fn settings(self) -> impl Iterator<Item = Setting> {
        [&PINNED[..], &UNSORTED, &UNSYNCED].into_iter().take(self as usize).flatten().copied()
    }
}

/// Who waits for a lock must then see what was committed meanwhile: that is not so by default everywhere.
pub(crate) const BEGIN: &str = "begin isolation level read committed";

/// Name and value.
type Setting = (&'static str, &'static str);

/// A plan that was made while a table was empty is a scan of the whole table, and stays one while it grows.
const PINNED: [Setting; 6] = [
    ("default_transaction_isolation", "read committed"),
    ("enable_seqscan", "off"),
    ("enable_bitmapscan", "off"),
    ("max_parallel_workers_per_gather", "0"),
    ("jit", "off"),
    ("plan_cache_mode", "force_generic_plan"),
];

/// Where several indexes would do, the statements of relays say an order that only one of them has, and without sorting that one is taken.
const UNSORTED: [Setting; 2] = [("enable_sort", "off"), ("enable_incremental_sort", "off")];

/// Of 32 reads that find something one has to write, because the sequence that numbers snapshots counts on: it would wait for the disk. What
/// stands on such a number is committed later, and reaches the disk together with it. A number that nothing stood on when the server crashed
/// may be given again.
const UNSYNCED: [Setting; 1] = [("synchronous_commit", "off")];
