//! Transactions of `tokio_postgres`, and of `deadpool_postgres`, which are those inside.

use posthaste_core::{EventId, Position, Published, Result, Unpublished};
use posthaste_postgres::{Caller, failure};
use tokio_postgres::{
    Transaction as TokioTransaction,
    types::{ToSql, Type},
};

use super::{
    Commit, Transaction,
    postgres::{append, find},
};
use crate::Place;

/// Needs the feature `tokio-postgres`.
///
/// ```no_run
/// use posthaste::{Event, Outbox};
///
/// # async fn place(outbox: Outbox, mut client: tokio_postgres::Client) -> Result<(), Box<dyn std::error::Error>> {
/// let mut tx = client.transaction().await?;
/// tx.execute("insert into orders (id) values ($1)", &[&7_i32]).await?;
/// let placed = Event::of("order.placed").aggregate("order", 7).json(&7)?;
/// let staged = outbox.publish(&mut tx, placed).await?;
/// outbox.commit(tx, staged).await?;
/// # Ok(()) }
/// ```
///
/// A transaction of `deadpool_postgres` has one of these inside: `outbox.publish(&mut *tx, …)`, then `tx.commit()` and
/// `staged.dispatch()`.
///
/// A client is no transaction:
///
/// ```compile_fail,E0277
/// # async fn refuses_a_client(outbox: posthaste::Outbox, mut client: tokio_postgres::Client) {
/// outbox.publish(&mut client, posthaste::Event::of("order.placed").bytes("x", "text/plain")).await;
/// # }
/// ```
impl Transaction for TokioTransaction<'_> {
    async fn append<'a>(&'a mut self, place: &'a Place, events: Unpublished<'a>) -> Result<Vec<Published>> {
        append(&mut Through(self), place, events).await
    }
}

impl Commit for TokioTransaction<'_> {
    async fn find<'a>(&'a mut self, place: &'a Place, positions: &'a [Position]) -> Result<Vec<EventId>> {
        find(&mut Through(self), place, positions).await
    }

    async fn commit(self) -> Result<()> {
        self.commit().await.map_err(failed("commit"))
    }
}

struct Through<'t, 'c>(&'t mut TokioTransaction<'c>);

impl Caller for Through<'_, '_> {
    async fn ask(&mut self, sql: &str, arguments: &[Option<&str>]) -> Result<String> {
        let row = self.0.query_typed_one(sql, &typed(arguments)).await.map_err(failed("publish"))?;
        row.try_get(0).map_err(failed("publish"))
    }

    async fn tell(&mut self, sql: &str, arguments: &[Option<&str>]) -> Result<u64> {
        self.0.execute_typed(sql, &typed(arguments)).await.map_err(failed("publish"))
    }

    async fn run(&mut self, sql: &str) -> Result<()> {
        self.0.batch_execute(sql).await.map_err(failed("publish"))
    }
}

/// With the types of its parameters a statement needs one round trip, and nothing stays prepared behind it.
fn typed<'a>(arguments: &'a [Option<&'a str>]) -> Vec<(&'a (dyn ToSql + Sync), Type)> {
    arguments.iter().map(|argument| (argument as _, Type::TEXT)).collect()
}

fn failed(operation: &'static str) -> impl Fn(tokio_postgres::Error) -> posthaste_core::Error {
    move |error| {
        let sqlstate = error.code().map(|code| code.code().to_owned());
        failure(operation, sqlstate.as_deref(), error)
    }
}
