//! What SQLite says, as what the caller can do about it.

use std::path::Path;

use posthaste_core::{Error, ErrorKind};

/// SQLite's primary result codes (<https://www.sqlite.org/rescode.html>).
mod code {
    pub(super) const ERROR: i32 = 1;
    pub(super) const BUSY: i32 = 5;
    pub(super) const LOCKED: i32 = 6;
    pub(super) const NO_MEMORY: i32 = 7;
    pub(super) const READ_ONLY: i32 = 8;
    pub(super) const IO: i32 = 10;
    pub(super) const FULL: i32 = 13;
    pub(super) const CANNOT_OPEN: i32 = 14;
    pub(super) const PROTOCOL: i32 = 15;
    pub(super) const CONSTRAINT: i32 = 19;
    pub(super) const NOT_A_DATABASE: i32 = 26;
}

/// The error of an operation that failed, with SQLite's own words as its cause.
pub(crate) fn failed(operation: &'static str) -> impl Fn(sqlx::Error) -> Error {
    move |error| {
        let (kind, advice) = explain(&error);
        let message = match advice {
            Some(advice) => format!("{operation}: {advice}").into(),
            None => std::borrow::Cow::Borrowed(operation),
        };
        Error::new(kind, message).with_source(error)
    }
}

/// The error of a file that could not be opened: which one, and what to look at.
pub(crate) fn cannot_open(path: &Path, error: sqlx::Error) -> Error {
    let (kind, advice) = explain(&error);
    let advice = match error.as_database_error().map(primary_code) {
        Some(code::CANNOT_OPEN) => {
            "it cannot be opened; see that its folder is there and that this user may write in it"
        }
        _ => advice.unwrap_or("see the cause"),
    };
    Error::new(kind, format!("open the database file {}: {advice}", path.display())).with_source(error)
}

/// Whether another connection was in the way.
pub(crate) fn is_busy(error: &sqlx::Error) -> bool {
    error.as_database_error().is_some_and(|error| primary_code(error) == code::BUSY)
}

/// SQLite's code without the details that its higher bytes add.
fn primary_code(error: &dyn sqlx::error::DatabaseError) -> i32 {
    error.code().and_then(|code| code.parse::<i32>().ok()).unwrap_or_default() & 0xff
}

fn explain(error: &sqlx::Error) -> (ErrorKind, Option<&'static str>) {
    let database = match error {
        sqlx::Error::Database(database) => database,
        sqlx::Error::Io(_)
        | sqlx::Error::WorkerCrashed
        | sqlx::Error::PoolTimedOut
        | sqlx::Error::PoolClosed => {
            return (ErrorKind::Unavailable, None);
        }
        sqlx::Error::Configuration(_) => return (ErrorKind::Invalid, None),
        _ => return (ErrorKind::Unexpected, None),
    };
    match primary_code(database.as_ref()) {
        code::BUSY | code::LOCKED | code::PROTOCOL => {
            (ErrorKind::Unavailable, Some("the database is locked by another writer"))
        }
        code::FULL => (ErrorKind::Unavailable, Some("the disk is full")),
        code::IO | code::NO_MEMORY => (ErrorKind::Unavailable, None),
        code::CANNOT_OPEN => (ErrorKind::Unavailable, Some("the database file cannot be opened")),
        code::CONSTRAINT => (
            ErrorKind::Refused,
            Some("a constraint or a trigger refuses a row; see what it says, and mend the one or the other"),
        ),
        code::READ_ONLY => (
            ErrorKind::Refused,
            Some("the database file is read-only; make the file and its folder writable for this user"),
        ),
        code::NOT_A_DATABASE => (
            ErrorKind::Invalid,
            Some("the file is not an SQLite database; check the path, and any encryption"),
        ),
        code::ERROR if is_missing(database.message()) => {
            (ErrorKind::Schema, Some("the tables are missing or of another version; run `posthaste migrate`"))
        }
        _ => (ErrorKind::Unexpected, None),
    }
}

/// SQLite has no code of its own for a table that is not there.
pub(crate) fn is_missing(message: &str) -> bool {
    ["no such table", "no such column", "has no column named"].iter().any(|text| message.contains(text))
}

/// A value in a table that no version of this program writes.
pub(crate) fn damaged(what: &'static str) -> Error {
    Error::new(ErrorKind::Schema, what)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use sqlx::{ConnectOptions, Connection, SqliteConnection, sqlite::SqliteConnectOptions};

    use super::*;

    async fn error_of(connection: &mut SqliteConnection, sql: &'static str) -> Error {
        let error = sqlx::query(sql).execute(connection).await.expect_err("this fails");
        failed("try")(error)
    }

    #[tokio::test]
    async fn what_sqlite_says_becomes_what_can_be_done() {
        let folder = tempfile::tempdir().unwrap();
        let options = SqliteConnectOptions::new()
            .filename(folder.path().join("errors.db"))
            .busy_timeout(Duration::from_millis(1));
        let missing = failed("try")(options.connect().await.unwrap_err());
        let mut writer = options.clone().create_if_missing(true).connect().await.unwrap();
        sqlx::query("create table t (a integer unique)").execute(&mut writer).await.unwrap();
        let mut other = options.clone().connect().await.unwrap();
        let mut reader = options.read_only(true).connect().await.unwrap();
        let mut locking = writer.begin_with("begin exclusive").await.unwrap();

        let cases = [
            (missing, ErrorKind::Unavailable, "cannot be opened"),
            (error_of(&mut other, "insert into t values (1)").await, ErrorKind::Unavailable, "locked"),
            (error_of(&mut locking, "select * from u").await, ErrorKind::Schema, "posthaste migrate"),
            (error_of(&mut locking, "select b from t").await, ErrorKind::Schema, "posthaste migrate"),
            (error_of(&mut locking, "insert into t values (1), (1)").await, ErrorKind::Refused, "constraint"),
            (error_of(&mut locking, "select random(1)").await, ErrorKind::Unexpected, "try"),
        ];
        locking.rollback().await.unwrap();
        let read_only = error_of(&mut reader, "insert into t values (1)").await;

        for (error, kind, part) in cases.into_iter().chain([(read_only, ErrorKind::Refused, "read-only")]) {
            assert_eq!(error.kind(), kind, "{}", error.chain());
            assert!(error.to_string().contains(part), "{error}");
            assert!(std::error::Error::source(&error).is_some(), "the cause is kept");
        }
    }
}
