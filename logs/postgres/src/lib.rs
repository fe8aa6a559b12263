//! The log in PostgreSQL 13 or later: for applications and relays on any number of machines.
//!
//! Positions are handed out before transactions commit, so "everything after the last position" would miss late commits. The log is
//! read in windows between two snapshots instead: what is visible in one and not in the other, in position order.

mod admin;
mod adopt;
mod append;
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
mod record;
mod row;
mod slot;
mod statements;
mod subscribe;
mod transaction;
mod value;
mod window;
mod work;
mod writer;

pub use sqlx::{PgConnection, PgPool, PgTransaction};

pub use self::{
    adopt::adopt,
    log::PostgresLog,
    migrate::migrations,
    options::PostgresOptions,
    statements::Place,
    transaction::{begin, commit, failure, is_in_transaction, pool},
    writer::{Caller, Pooled, find, publish},
};
