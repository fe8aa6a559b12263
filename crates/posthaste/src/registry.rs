//! The one list of drivers: which URL scheme opens which log, and how.

use std::sync::Arc;

use posthaste_core::{Admin, Clock, DEFAULT_PAYLOAD_LIMIT, Error, Log, Result};

use crate::{Outbox, Publisher};

/// What a database offers: to the relay, to operators and to who has committed.
pub trait Driver: Log + Admin {
    /// Tells relays in other processes, soon and without waiting for it, that something was committed. Where the database has no
    /// bell, or its relays see every commit by themselves, nothing.
    fn ring(&self) {}
}

/// How to open a log.
#[derive(Clone)]
pub struct OpenOptions {
    /// The schema of the tables, where a database has such; none leaves it to the search path.
    pub schema: Option<String>,
    /// What the names of the tables begin with.
    pub prefix: String,
    /// How many lanes a new log gets; an existing one must have as many. None takes what is there, or 64.
    pub lanes: Option<u8>,
    /// Whether to create or update the tables.
    pub migrate: bool,
    /// Whether to create the database file, where a database is a file; only together with `migrate`.
    pub create: bool,
    /// Whether the address is that of a pooler in transaction mode, such as PgBouncer.
    pub pooler: bool,
    /// The largest payload that is delivered, in bytes; a larger one becomes a dead letter.
    pub payload_limit: usize,
    /// Another clock, for tests. Without one time comes from the database, or from the system if the database has none.
    pub clock: Option<Arc<dyn Clock>>,
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self {
            schema: None,
            prefix: "outbox".to_owned(),
            lanes: None,
            migrate: true,
            create: true,
            pooler: false,
            payload_limit: DEFAULT_PAYLOAD_LIMIT,
            clock: None,
        }
    }
}

/// The URL schemes that this build knows.
pub const SCHEMES: &[&str] = &[
    #[cfg(feature = "sqlite")]
    "sqlite",
    #[cfg(feature = "postgres")]
    "postgres",
    #[cfg(feature = "postgres")]
    "postgresql",
];

/// Opens the log behind a URL.
pub async fn open(url: &str, options: OpenOptions) -> Result<Arc<dyn Driver>> {
    let scheme = url.split(':').next().unwrap_or_default();
    match scheme {
        #[cfg(feature = "sqlite")]
        "sqlite" => sqlite::open(url, options).await,
        #[cfg(feature = "postgres")]
        "postgres" | "postgresql" => postgres::open(url, options).await,
        _ => {
            // A build without any database has no other use for them.
            drop(options);
            Err(not_understood(scheme))
        }
    }
}

/// Publishes into an outbox, in transactions on the database behind its URL, for those who have none of their own.
pub async fn publisher(url: &str, outbox: &Outbox) -> Result<Arc<dyn Publisher>> {
    let scheme = url.split(':').next().unwrap_or_default();
    match scheme {
        #[cfg(feature = "sqlite")]
        "sqlite" => sqlite::publisher(url, outbox).await,
        #[cfg(feature = "postgres")]
        "postgres" | "postgresql" => postgres::publisher(url, outbox).await,
        _ => {
            // A build without any database has no other use for it.
            _ = outbox;
            Err(not_understood(scheme))
        }
    }
}

/// Names the scheme only: the rest of an address may have a password in it.
fn not_understood(scheme: &str) -> Error {
    let known: Vec<String> = SCHEMES.iter().map(|scheme| format!("{scheme}://…")).collect();
    Error::invalid(format!(
        "database URL {scheme:?}… is not understood; write {} (each database is a feature of the build)",
        known.join(" or ")
    ))
}

#[cfg(feature = "sqlite")]
mod sqlite {
    use std::sync::Arc;

    use posthaste_core::{Error, Result, SystemClock};
    use posthaste_sqlite::{SqliteLog, SqliteOptions};

    use super::{Driver, OpenOptions, Outbox, Publisher};
    use crate::Through;

    /// Relays in other processes watch the file for commits.
    impl Driver for SqliteLog {}

    pub(super) async fn open(url: &str, options: OpenOptions) -> Result<Arc<dyn Driver>> {
        if options.schema.is_some() {
            return Err(Error::invalid("SQLite has no schemas; leave it out, or set a prefix"));
        }
        let options = SqliteOptions {
            prefix: options.prefix,
            lanes: options.lanes,
            migrate: options.migrate,
            create: options.create,
            payload_limit: options.payload_limit,
            clock: options.clock.unwrap_or_else(|| Arc::new(SystemClock)),
            ..Default::default()
        };
        Ok(Arc::new(SqliteLog::open(url, options).await?))
    }

    pub(super) async fn publisher(url: &str, outbox: &Outbox) -> Result<Arc<dyn Publisher>> {
        let pool = posthaste_sqlite::pool(url).await?;
        Ok(Arc::new(Through { outbox: outbox.clone(), pool }))
    }
}

#[cfg(feature = "postgres")]
mod postgres {
    use std::sync::Arc;

    use posthaste_core::Result;
    use posthaste_postgres::{PostgresLog, PostgresOptions};

    use super::{Driver, OpenOptions, Outbox, Publisher};
    use crate::Through;

    impl Driver for PostgresLog {
        fn ring(&self) {
            Self::ring(self);
        }
    }

    pub(super) async fn open(url: &str, options: OpenOptions) -> Result<Arc<dyn Driver>> {
        let options = PostgresOptions {
            schema: options.schema,
            prefix: options.prefix,
            lanes: options.lanes,
            clock: options.clock,
            migrate: options.migrate,
            pooler: options.pooler,
            payload_limit: options.payload_limit,
        };
        Ok(Arc::new(PostgresLog::open(url, options).await?))
    }

    pub(super) async fn publisher(url: &str, outbox: &Outbox) -> Result<Arc<dyn Publisher>> {
        let pool = crate::postgres::pool(url).await?;
        Ok(Arc::new(Through { outbox: outbox.clone(), pool }))
    }
}
