//! Transactions in PostgreSQL: sqlx's, and connections of which a driver says that they are in one.

use posthaste_core::{Error, ErrorKind, EventId, Position, Published, Result, Unpublished};
use posthaste_postgres::{Caller, PgConnection, PgPool, PgTransaction, Pooled};

use super::{Begin, Commit, Transaction};
use crate::Place;

/// Adds the events in the transaction that the caller has open.
pub(super) async fn append(
    caller: &mut impl Caller,
    place: &Place,
    events: Unpublished<'_>,
) -> Result<Vec<Published>> {
    posthaste_postgres::publish(caller, &checked(place)?, events).await
}

/// The ids of the events at these positions, as the caller's transaction sees them.
pub(super) async fn find(
    caller: &mut impl Caller,
    place: &Place,
    positions: &[Position],
) -> Result<Vec<EventId>> {
    posthaste_postgres::find(caller, &checked(place)?, positions).await
}

fn checked(place: &Place) -> Result<posthaste_postgres::Place> {
    posthaste_postgres::Place::new(place.schema.as_deref(), &place.prefix)
}

/// Adds the events in the transaction that is open on a connection of sqlx.
async fn append_to(
    connection: &mut PgConnection,
    place: &Place,
    events: Unpublished<'_>,
) -> Result<Vec<Published>> {
    match place.pooler {
        true => append(&mut Pooled(connection), place, events).await,
        false => append(connection, place, events).await,
    }
}

impl Transaction for PgTransaction<'_> {
    async fn append<'a>(&'a mut self, place: &'a Place, events: Unpublished<'a>) -> Result<Vec<Published>> {
        append_to(self, place, events).await
    }
}

impl Commit for PgTransaction<'_> {
    async fn find<'a>(&'a mut self, place: &'a Place, positions: &'a [Position]) -> Result<Vec<EventId>> {
        match place.pooler {
            true => find(&mut Pooled(self), place, positions).await,
            false => find(&mut **self, place, positions).await,
        }
    }

    async fn commit(self) -> Result<()> {
        posthaste_postgres::commit(self).await
    }
}

impl Begin for PgPool {
    type Transaction = PgTransaction<'static>;

    async fn begin(&self) -> Result<Self::Transaction> {
        posthaste_postgres::begin(self).await
    }
}

/// A connection in a transaction, for code that gets a connection and not the transaction itself.
///
/// The type of a connection does not say whether a transaction is open on it, so [`of`](Self::of) asks the driver, which counts the
/// transactions that it began. It costs nothing: the server is not asked.
///
/// ```
/// use posthaste::{
///     Event, Outbox, Result, Staged,
///     postgres::{InTransaction, PgConnection},
/// };
///
/// /// Somewhere inside a transaction that somebody else began and will commit.
/// async fn place_order(outbox: &Outbox, connection: &mut PgConnection) -> Result<Staged> {
///     // sqlx::query("insert into orders …").execute(&mut *connection).await?;
///     let placed = Event::of("order.placed").aggregate("order", 7).json(&7)?;
///     outbox.publish(&mut InTransaction::of(connection)?, placed).await
/// }
/// ```
#[must_use = "publish with it"]
pub struct InTransaction<'c, C>(pub(super) &'c mut C);

impl<'c, C: TracksTransactions> InTransaction<'c, C> {
    /// Makes sure that a transaction is open on the connection, as its driver knows. One that was begun with the statement `BEGIN`
    /// behind the driver's back is not known to it, and refused.
    pub fn of(connection: &'c mut C) -> Result<Self> {
        if connection.is_in_transaction() { Ok(Self(connection)) } else { Err(no_transaction()) }
    }
}

fn no_transaction() -> Error {
    Error::new(
        ErrorKind::Refused,
        "publish: no transaction is open on this connection; begin one with the driver's own begin() or transaction(), \
         not with the statement BEGIN",
    )
}

/// A connection that knows whether it is in a transaction.
pub trait TracksTransactions {
    /// Whether a transaction is open that was begun through the driver.
    fn is_in_transaction(&mut self) -> bool;
}

impl TracksTransactions for PgConnection {
    fn is_in_transaction(&mut self) -> bool {
        posthaste_postgres::is_in_transaction(self)
    }
}

impl Transaction for InTransaction<'_, PgConnection> {
    async fn append<'a>(&'a mut self, place: &'a Place, events: Unpublished<'a>) -> Result<Vec<Published>> {
        append_to(self.0, place, events).await
    }
}
