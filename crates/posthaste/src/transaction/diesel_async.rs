//! Transactions of `diesel_async`, where the transaction is the connection.

use diesel::{
    QueryResult,
    pg::Pg,
    query_builder::{AstPass, Query, QueryFragment, QueryId},
    result::{DatabaseErrorKind, Error as DieselError},
    sql_types::{Nullable, Text},
};
use diesel_async::{
    AsyncConnection, AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection, TransactionManager,
};
use posthaste_core::{Error, ErrorKind, Published, Result, Unpublished};
use posthaste_postgres::Caller;

use super::{
    Transaction,
    postgres::{InTransaction, TracksTransactions, append},
};
use crate::Place;

impl TracksTransactions for AsyncPgConnection {
    fn is_in_transaction(&mut self) -> bool {
        type Manager = <AsyncPgConnection as AsyncConnection>::TransactionManager;
        let status = Manager::transaction_manager_status_mut(self);
        // A broken transaction has no depth that anybody knows.
        status.transaction_depth().is_ok_and(|depth| depth.is_some())
    }
}

/// Needs the feature `diesel-async`.
///
/// ```no_run
/// use diesel_async::{AsyncConnection, AsyncPgConnection};
/// use posthaste::{Event, Outbox, Staged, postgres::InTransaction};
///
/// # async fn place(outbox: Outbox, mut connection: AsyncPgConnection) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
/// type Trouble = Box<dyn std::error::Error + Send + Sync>;
/// let staged = connection
///     .transaction(async |connection| -> Result<Staged, Trouble> {
///         // diesel::insert_into(orders).values(…).execute(connection).await?;
///         let placed = Event::of("order.placed").aggregate("order", 7).json(&7)?;
///         Ok(outbox.publish(&mut InTransaction::of(connection)?, placed).await?)
///     })
///     .await?;
/// staged.dispatch();
/// # Ok(()) }
/// ```
///
/// A connection is no transaction:
///
/// ```compile_fail,E0277
/// # async fn refuses_a_connection(outbox: posthaste::Outbox, mut connection: diesel_async::AsyncPgConnection) {
/// outbox.publish(&mut connection, posthaste::Event::of("order.placed").bytes("x", "text/plain")).await;
/// # }
/// ```
impl Transaction for InTransaction<'_, AsyncPgConnection> {
    async fn append<'a>(&'a mut self, place: &'a Place, events: Unpublished<'a>) -> Result<Vec<Published>> {
        append(&mut Through(self.0), place, events).await
    }
}

struct Through<'c>(&'c mut AsyncPgConnection);

impl Caller for Through<'_> {
    async fn ask(&mut self, sql: &str, arguments: &[Option<&str>]) -> Result<String> {
        Asked { sql, arguments }.get_result(self.0).await.map_err(failed)
    }

    async fn tell(&mut self, sql: &str, arguments: &[Option<&str>]) -> Result<u64> {
        let rows = Asked { sql, arguments }.execute(self.0).await.map_err(failed)?;
        Ok(rows as u64)
    }

    async fn run(&mut self, sql: &str) -> Result<()> {
        self.0.batch_execute(sql).await.map_err(failed)
    }
}

/// A statement with texts as its parameters, and a text as its answer if it has one. Unlike `diesel::sql_query` it stays prepared on the connection, if the
/// application lets diesel keep statements: that saves a round trip and the planning, which is more than half of the server's work.
struct Asked<'a> {
    sql: &'a str,
    arguments: &'a [Option<&'a str>],
}

impl Query for Asked<'_> {
    type SqlType = Text;
}

impl QueryId for Asked<'_> {
    type QueryId = ();

    // Known by its text.
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl QueryFragment<Pg> for Asked<'_> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        let mut rest = self.sql;
        for (index, argument) in self.arguments.iter().enumerate() {
            // Diesel writes the parameters itself, in this order, under these names.
            let (before, after) = rest.split_once(&format!("${}", index + 1)).unwrap_or((rest, ""));
            out.push_sql(before);
            out.push_bind_param::<Nullable<Text>, _>(argument)?;
            rest = after;
        }
        out.push_sql(rest);
        Ok(())
    }
}

/// Diesel keeps the server's SQLSTATE to itself, and tells what it makes of it.
fn failed(error: DieselError) -> Error {
    let kind = match &error {
        DieselError::DatabaseError(
            DatabaseErrorKind::ClosedConnection
            | DatabaseErrorKind::SerializationFailure
            | DatabaseErrorKind::ReadOnlyTransaction
            | DatabaseErrorKind::UnableToSendCommand,
            _,
        ) => ErrorKind::Unavailable,
        _ => ErrorKind::Unexpected,
    };
    Error::new(kind, "publish").with_source(error)
}
