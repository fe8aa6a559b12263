//! Transactions of `sea_orm`, if they are in PostgreSQL.

use posthaste_core::{Error, ErrorKind, EventId, Position, Published, Result, Unpublished};
use posthaste_postgres::{Caller, failure};
use sea_orm::{
    ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbBackend, DbErr, RuntimeErr, Statement,
    TransactionTrait,
};

use super::{
    Begin, Commit, Transaction,
    postgres::{append, find},
};
use crate::Place;

/// Needs the feature `sea-orm`.
///
/// ```no_run
/// use posthaste::{Event, Outbox};
/// use sea_orm::{ConnectionTrait, DatabaseConnection, TransactionTrait};
///
/// # async fn place(outbox: Outbox, database: DatabaseConnection) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
/// let mut tx = database.begin().await?;
/// tx.execute_unprepared("insert into orders (id) values (7)").await?;
/// let placed = Event::of("order.placed").aggregate("order", 7).json(&7)?;
/// let staged = outbox.publish(&mut tx, placed).await?;
/// outbox.commit(tx, staged).await?;
///
/// // Or, so that nothing can be forgotten:
/// outbox
///     .transaction(&database, async |tx| {
///         tx.execute_unprepared("insert into orders (id) values (8)").await?;
///         tx.publish(Event::of("order.placed").aggregate("order", 8).json(&8)?).await?;
///         Ok::<_, Box<dyn std::error::Error + Send + Sync>>(())
///     })
///     .await?;
/// # Ok(()) }
/// ```
///
/// A connection is no transaction:
///
/// ```compile_fail,E0277
/// # async fn refuses_a_connection(outbox: posthaste::Outbox, mut database: sea_orm::DatabaseConnection) {
/// outbox.publish(&mut database, posthaste::Event::of("order.placed").bytes("x", "text/plain")).await;
/// # }
/// ```
impl Transaction for DatabaseTransaction {
    async fn append<'a>(&'a mut self, place: &'a Place, events: Unpublished<'a>) -> Result<Vec<Published>> {
        append(&mut through(self)?, place, events).await
    }
}

impl Commit for DatabaseTransaction {
    async fn find<'a>(&'a mut self, place: &'a Place, positions: &'a [Position]) -> Result<Vec<EventId>> {
        find(&mut through(self)?, place, positions).await
    }

    async fn commit(self) -> Result<()> {
        self.commit().await.map_err(failed("commit"))
    }
}

impl Begin for DatabaseConnection {
    type Transaction = DatabaseTransaction;

    async fn begin(&self) -> Result<Self::Transaction> {
        TransactionTrait::begin(self).await.map_err(failed("begin"))
    }
}

struct Through<'t>(&'t DatabaseTransaction);

/// The type is the same for every database that `sea_orm` knows.
fn through(transaction: &DatabaseTransaction) -> Result<Through<'_>> {
    match transaction.get_database_backend() {
        DbBackend::Postgres => Ok(Through(transaction)),
        other => Err(Error::new(
            ErrorKind::Refused,
            format!(
                "publish: this transaction is in {other:?}; only PostgreSQL is supported through sea-orm"
            ),
        )),
    }
}

impl Caller for Through<'_> {
    async fn ask(&mut self, sql: &str, arguments: &[Option<&str>]) -> Result<String> {
        let answer = self.0.query_one_raw(statement(sql, arguments)).await.map_err(failed("publish"))?;
        let row = answer.ok_or_else(|| Error::new(ErrorKind::Unexpected, "publish: no answer"))?;
        row.try_get_by_index(0).map_err(failed("publish"))
    }

    async fn tell(&mut self, sql: &str, arguments: &[Option<&str>]) -> Result<u64> {
        let done = self.0.execute_raw(statement(sql, arguments)).await.map_err(failed("publish"))?;
        Ok(done.rows_affected())
    }

    async fn run(&mut self, sql: &str) -> Result<()> {
        self.0.execute_unprepared(sql).await.map_err(failed("publish"))?;
        Ok(())
    }
}

fn statement(sql: &str, arguments: &[Option<&str>]) -> Statement {
    let arguments = arguments.iter().map(|argument| argument.map(str::to_owned).into());
    Statement::from_sql_and_values(DbBackend::Postgres, sql, arguments)
}

fn failed(operation: &'static str) -> impl Fn(DbErr) -> Error {
    move |error| {
        let sqlstate = match &error {
            DbErr::Conn(RuntimeErr::SqlxError(error))
            | DbErr::Exec(RuntimeErr::SqlxError(error))
            | DbErr::Query(RuntimeErr::SqlxError(error)) => {
                error.as_database_error().and_then(|error| error.code()).map(|code| code.into_owned())
            }
            _ => None,
        };
        failure(operation, sqlstate.as_deref(), error)
    }
}
