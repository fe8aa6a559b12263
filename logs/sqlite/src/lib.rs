//! The log in SQLite: for applications and relays that share one file on one machine, in any number of processes.
//!
//! One writer at a time means that position order is commit order, so reading by position misses nothing. Every
//! transaction that writes begins with `begin immediate`; the file is in WAL mode, so that readers and the writer do not
//! wait for each other.
//!
//! ```
//! use posthaste_sqlite::{SqliteLog, SqliteOptions};
//! # use posthaste_core::{Event, EventId, EventRules, Stamp, Timestamp};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let url = format!("sqlite://{}", folder.path().join("shop.db").display());
//! # let stamp = Stamp { id: EventId::from_bytes([7; 16]), now: Timestamp(0) };
//! # let event = Event::of("user.created").json(&"Ada")?.build(&EventRules::default(), stamp)?;
//! let options = SqliteOptions { migrate: true, ..SqliteOptions::default() };
//! let log = SqliteLog::open(&url, options).await?;
//!
//! let mut tx = posthaste_sqlite::begin(log.pool()).await?;
//! sqlx::query("create table users (name text)").execute(&mut *tx).await?;
//! sqlx::query("insert into users (name) values (?1)").bind("Ada").execute(&mut *tx).await?;
//! posthaste_sqlite::publish(&mut tx, "outbox", &[event]).await?;
//! tx.commit().await?;
//! # Ok(())
//! # }
//! ```

mod admin;
mod append;
mod bind;
mod changes;
mod doorbell;
mod error;
mod hold;
mod log;
mod migrate;
mod options;
#[cfg(test)]
mod plans;
mod prune;
mod read;
mod row;
mod slot;
mod statements;
mod statistics;
mod subscribe;
mod transaction;
mod work;
mod writer;

pub use sqlx::{SqliteConnection, SqlitePool, SqliteTransaction};

pub use self::{
    log::SqliteLog,
    options::SqliteOptions,
    transaction::{begin, commit, find, pool, publish},
};
