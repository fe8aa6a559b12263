//! The one list of drivers: which URL scheme opens which log. Adding a database is one line here.

use std::sync::Arc;

use posthaste_core::{Admin, Clock, Error, Log, Result, SystemClock};

/// What a database offers: to the relay and to operators.
pub trait Driver: Log + Admin {}

impl<T: Log + Admin> Driver for T {}

/// How to open a log.
#[derive(Clone)]
pub struct OpenOptions {
    /// What the names of the tables begin with.
    pub prefix: String,
    /// How many lanes a new log gets; an existing one must have as many. None takes what is there, or 64.
    pub lanes: Option<u8>,
    /// Whether to create or update the tables.
    pub migrate: bool,
    /// Whether to create the database file, where a database is a file; only together with `migrate`.
    pub create: bool,
    /// Where time comes from, for databases that have no clock of their own.
    pub clock: Arc<dyn Clock>,
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self {
            prefix: "outbox".to_owned(),
            lanes: None,
            migrate: true,
            create: true,
            clock: Arc::new(SystemClock),
        }
    }
}

/// The URL schemes that this build knows.
pub const SCHEMES: &[&str] = &[
    #[cfg(feature = "sqlite")]
    "sqlite",
];

/// Opens the log behind a URL.
pub async fn open(url: &str, options: OpenOptions) -> Result<Arc<dyn Driver>> {
    let scheme = url.split(':').next().unwrap_or_default();
    match scheme {
        #[cfg(feature = "sqlite")]
        "sqlite" => {
            let OpenOptions { prefix, lanes, migrate, create, clock } = options;
            let options = posthaste_sqlite::SqliteOptions {
                prefix,
                lanes,
                migrate,
                create,
                clock,
                ..Default::default()
            };
            Ok(Arc::new(posthaste_sqlite::SqliteLog::open(url, options).await?))
        }
        _ => Err(Error::invalid(format!(
            "database URL {url:?} is not understood; write {}",
            SCHEMES.iter().map(|scheme| format!("{scheme}://…")).collect::<Vec<_>>().join(" or ")
        ))),
    }
}
