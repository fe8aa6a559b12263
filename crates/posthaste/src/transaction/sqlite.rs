//! Transactions in SQLite: sqlx's.

use std::future::Future;

use posthaste_core::{EventId, Position, Published, Result, Unpublished};
use posthaste_sqlite::{SqlitePool, SqliteTransaction};

use super::{Begin, Commit, Transaction};
use crate::Place;

impl Transaction for SqliteTransaction<'_> {
    fn append<'a>(
        &'a mut self,
        place: &'a Place,
        events: Unpublished<'a>,
    ) -> impl Future<Output = Result<Vec<Published>>> + Send + 'a {
        posthaste_sqlite::publish(self, &place.prefix, events.events)
    }
}

impl Commit for SqliteTransaction<'_> {
    fn find<'a>(
        &'a mut self,
        place: &'a Place,
        positions: &'a [Position],
    ) -> impl Future<Output = Result<Vec<EventId>>> + Send + 'a {
        posthaste_sqlite::find(self, &place.prefix, positions)
    }

    fn commit(self) -> impl Future<Output = Result<()>> + Send {
        posthaste_sqlite::commit(self)
    }
}

impl Begin for SqlitePool {
    type Transaction = SqliteTransaction<'static>;

    fn begin(&self) -> impl Future<Output = Result<Self::Transaction>> + Send {
        posthaste_sqlite::begin(self)
    }
}
