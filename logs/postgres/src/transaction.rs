//! Transactions of the application's: sqlx's own, and what drivers other than sqlx say when they fail.

use std::{borrow::Cow, error::Error as StdError, str::FromStr};

use posthaste_core::{Error, ErrorKind, Result};
use sqlx::{
    Connection, PgConnection, PgPool, PgTransaction,
    postgres::{PgConnectOptions, PgPoolOptions},
};

use crate::{
    error::{explain_code, failed},
    log::POOL_SIZE,
};

/// A small pool on the database that `url` names, for an application that has none of its own. Nothing is opened until it is used.
pub async fn pool(url: &str) -> Result<PgPool> {
    let options = PgConnectOptions::from_str(url).map_err(failed("understand the postgres address"))?;
    Ok(PgPoolOptions::new().max_connections(POOL_SIZE).connect_lazy_with(options))
}

/// Begins a transaction.
pub async fn begin(pool: &PgPool) -> Result<PgTransaction<'static>> {
    pool.begin().await.map_err(failed("begin"))
}

/// Makes everything in the transaction permanent.
pub async fn commit(transaction: PgTransaction<'_>) -> Result<()> {
    transaction.commit().await.map_err(failed("commit"))
}

/// Whether a transaction is open on the connection that was begun through sqlx; what a statement `BEGIN` began does not count.
#[must_use]
pub fn is_in_transaction(connection: &PgConnection) -> bool {
    connection.is_in_transaction()
}

/// The error of an operation that failed in another driver than sqlx, which tells the SQLSTATE that the server named; none if it was
/// not the server that refused.
pub fn failure(
    operation: &'static str,
    sqlstate: Option<&str>,
    cause: impl StdError + Send + Sync + 'static,
) -> Error {
    let (kind, advice) = sqlstate.map_or((ErrorKind::Unavailable, None), explain_code);
    let message = match advice {
        Some(advice) => Cow::Owned(format!("{operation}: {advice}")),
        None => Cow::Borrowed(operation),
    };
    Error::new(kind, message).with_source(cause)
}
