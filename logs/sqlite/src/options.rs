//! How a log in SQLite is opened.

use std::{fmt, path::Path, str::FromStr, sync::Arc, time::Duration};

use posthaste_core::{Clock, DEFAULT_PAYLOAD_LIMIT, Error, ErrorKind, MAX_LANES, Result, SystemClock};
use sqlx::{
    ConnectOptions,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous},
};

use crate::error::failed;

/// How a log is opened. [`Default`] fits a program beside an application that has migrated already.
#[derive(Clone)]
pub struct SqliteOptions {
    /// The tables begin with this: lower-case letters, digits and `_`, at most 41.
    pub prefix: String,
    /// How many lanes a new log gets, 1 to 64; 64 unless set. The number of an existing log never changes: another one
    /// here is an error.
    pub lanes: Option<u8>,
    /// What time it is. SQLite lives in this process, so the database's clock is the machine's.
    pub clock: Arc<dyn Clock>,
    /// The largest payload that is delivered, in bytes; 1 MiB unless set. A larger one, which only plain SQL can have written if
    /// all who publish have the same limit, is not even loaded: it becomes a dead letter.
    pub payload_limit: usize,
    /// How long to wait for another writer.
    pub busy_timeout: Duration,
    /// Whether to create the tables, or bring them up to date.
    pub migrate: bool,
    /// Whether to create the file if there is none. Only together with `migrate`: a file without tables is of no use, and
    /// would hide that the path is wrong.
    pub create: bool,
    /// How often the doorbell looks whether anything was committed.
    pub doorbell_interval: Duration,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self {
            prefix: "outbox".to_owned(),
            lanes: None,
            clock: Arc::new(SystemClock),
            payload_limit: DEFAULT_PAYLOAD_LIMIT,
            busy_timeout: Duration::from_secs(5),
            migrate: false,
            create: true,
            doorbell_interval: Duration::from_millis(20),
        }
    }
}

impl fmt::Debug for SqliteOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteOptions")
            .field("prefix", &self.prefix)
            .field("lanes", &self.lanes)
            .field("payload_limit", &self.payload_limit)
            .field("busy_timeout", &self.busy_timeout)
            .field("migrate", &self.migrate)
            .field("create", &self.create)
            .field("doorbell_interval", &self.doorbell_interval)
            .finish_non_exhaustive()
    }
}

impl SqliteOptions {
    /// Whether a file may be made.
    fn creates(&self) -> bool {
        self.create && self.migrate
    }

    /// Says everything that is wrong with the options, but for the prefix.
    pub(crate) fn validate(&self) -> Result<()> {
        let mut problems = Vec::new();
        if let Some(lanes) = self.lanes.filter(|lanes| !(1..=MAX_LANES).contains(lanes)) {
            problems.push(format!("lanes is {lanes}; 1 to {MAX_LANES} are possible"));
        }
        // What SQLite counts in is an `int` of milliseconds.
        if i32::try_from(self.busy_timeout.as_millis()).is_err() {
            problems.push(format!("busy_timeout is {:?}; 24 days are the most", self.busy_timeout));
        }
        if self.doorbell_interval.is_zero() {
            problems.push("doorbell_interval is 0; write 1ms or more".to_owned());
        }
        if problems.is_empty() {
            Ok(())
        } else {
            Err(Error::invalid(format!("sqlite: {}", problems.join("; "))))
        }
    }
}

/// How connections to one file are made.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    base: SqliteConnectOptions,
}

impl Source {
    /// Understands `sqlite:path`, `sqlite://path` and what SQLite allows behind a `?`.
    pub(crate) fn parse(url: &str, options: &SqliteOptions) -> Result<Self> {
        check_address(url)?;
        let parsed = SqliteConnectOptions::from_str(url).map_err(failed("understand the sqlite address"))?;
        if parsed.get_filename().as_os_str().is_empty() {
            return Err(Error::invalid(format!("{url:?} names no file; write sqlite://path")));
        }
        check_place(parsed.get_filename(), options)?;
        let base = parsed
            .create_if_missing(options.creates())
            .journal_mode(SqliteJournalMode::Wal)
            .busy_timeout(options.busy_timeout)
            .foreign_keys(true)
            // A reader that stays long makes the write-ahead log grow; without this it would stay as large for ever.
            .pragma("journal_size_limit", "67108864")
            // Each lane writes at its own end of the lines, again and again; the less often those pages are copied into the
            // database, the fewer copies there are. 4,000 pages are 16 MB.
            .pragma("wal_autocheckpoint", "4000");
        Ok(Self { base })
    }

    pub(crate) fn path(&self) -> &Path {
        self.base.get_filename()
    }

    /// For the first connection, which may create the file. None of the others makes an empty one if the file goes away.
    pub(crate) fn first(&self) -> SqliteConnectOptions {
        self.as_own(self.base.clone())
    }

    /// For the application: what it commits is on the disk.
    pub(crate) fn application(&self) -> SqliteConnectOptions {
        self.base.clone().synchronous(SqliteSynchronous::Full)
    }

    /// For the log's own work. A loss of power may undo the last lines and leases (never half of one), which only
    /// repeats deliveries that were in flight; so the disk need not be waited for. What applications publish is on
    /// the disk when their own connections say so.
    pub(crate) fn own(&self) -> SqliteConnectOptions {
        self.as_own(self.base.clone().create_if_missing(false))
    }

    /// For settlements and renewals, which should not wait long for others. Where SQLite waits by itself it looks more and more
    /// seldom, every tenth of a second at last: beside an application that writes all the time whoever has waited longest is the
    /// least likely to find the lock free. So it looks again after a millisecond, and who begins a transaction asks again.
    pub(crate) fn settling(&self) -> SqliteConnectOptions {
        self.own().busy_timeout(Duration::from_millis(1))
    }

    /// For what operators do: they were told that it is done, so it is on the disk.
    pub(crate) fn operators(&self) -> SqliteConnectOptions {
        self.own().synchronous(SqliteSynchronous::Full)
    }

    fn as_own(&self, options: SqliteConnectOptions) -> SqliteConnectOptions {
        let options = options
            .synchronous(SqliteSynchronous::Normal)
            // A page is streamed row by row; a full buffer is this many rows, each as large as a payload may be.
            .row_buffer_size(ROW_BUFFER)
            .thread_name(|number| format!("posthaste-sqlite-{number}"));
        // Sqlx prepares its report of a statement whether or not anybody listens.
        let listened_to = tracing::enabled!(target: "sqlx::query", tracing::Level::DEBUG);
        if listened_to { options } else { options.disable_statement_logging() }
    }
}

/// Refuses addresses that cannot be those of a log.
fn check_address(url: &str) -> Result<()> {
    if !url.starts_with("sqlite:") {
        return Err(Error::invalid(format!("{url:?} is no address of an SQLite file; write sqlite://path")));
    }
    if url.contains(":memory:") || url.contains("mode=memory") {
        return Err(Error::invalid(
            "a log needs a file: it uses several connections, and a database in memory belongs to one; write \
             sqlite://path, or use the in-memory log of posthaste-core in tests",
        ));
    }
    if url.contains("mode=ro") || url.contains("immutable=") {
        return Err(Error::new(
            ErrorKind::Refused,
            "a log cannot be opened read-only: relays write how far they are; leave out mode and immutable",
        ));
    }
    Ok(())
}

/// Says what is missing of the place where the file is, or is to be.
fn check_place(path: &Path, options: &SqliteOptions) -> Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty())
        && !folder.is_dir()
    {
        return Err(Error::new(
            ErrorKind::NotFound,
            format!(
                "there is no folder {} for the database file {}; check the path, or create the folder",
                folder.display(),
                path.display()
            ),
        ));
    }
    if !options.creates() && !path.exists() {
        return Err(Error::new(
            ErrorKind::NotFound,
            format!(
                "there is no database file {}; check the path, or let `posthaste migrate` create it",
                path.display()
            ),
        ));
    }
    Ok(())
}

/// Larger buffers were not faster: writer and reader of the buffer then fight for SQLite's allocator.
const ROW_BUFFER: usize = 64;
