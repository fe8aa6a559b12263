//! The operator's side: what CLI, API and dashboard ask and do.

mod act;
mod dead;
mod list;
mod reset;
mod show;
mod status;

use async_trait::async_trait;
use posthaste_core::{
    Admin, DeadFilter, DeadLetter, Error, ErrorKind, EventFilter, EventId, EventSummary, OperatorAct, Paged,
    Result, Status, Timeline, oversized,
};
use sqlx::SqliteConnection;

use crate::{
    SqliteLog,
    error::failed,
    log::Inner,
    row::{Stored, get},
};

#[async_trait]
impl Admin for SqliteLog {
    async fn status(&self) -> Result<Status> {
        status::status(self.inner()).await
    }

    async fn list(&self, filter: &EventFilter) -> Result<Paged<EventSummary>> {
        list::list(self.inner(), filter).await
    }

    async fn show(&self, id: EventId) -> Result<Timeline> {
        show::show(self.inner(), id).await
    }

    async fn dead(&self, filter: &DeadFilter) -> Result<Paged<DeadLetter>> {
        dead::dead(self.inner(), filter).await
    }

    async fn act(&self, act: &OperatorAct, by: &str) -> Result<u64> {
        act::act(self.inner(), act, by).await
    }
}

/// How many rows a page has if nothing is said, and how many at most.
const PAGE: u32 = 50;
const MAX_PAGE: u32 = 1_000;

/// The size of a page.
fn page_size(limit: u32) -> usize {
    let limit = if limit == 0 { PAGE } else { limit.min(MAX_PAGE) };
    usize::try_from(limit).unwrap_or(usize::MAX)
}

/// One row more than the page has, to see whether there is another page.
fn rows_for(limit: u32) -> i64 {
    i64::try_from(page_size(limit)).unwrap_or(i64::MAX).saturating_add(1)
}

/// One page of what was found. The next one begins where this ends, if there is anything left.
fn page<T>(mut items: Vec<T>, limit: u32, place: impl Fn(&T) -> i64) -> Paged<T> {
    let more = items.len() > page_size(limit);
    items.truncate(page_size(limit));
    let next = items.last().filter(|_| more).map(place);
    Paged { items, next }
}

/// Fails, and says which names there are, if the subscription is unknown; otherwise whether it is paused.
async fn is_paused(log: &Inner, connection: &mut SqliteConnection, name: &str) -> Result<bool> {
    let found = sqlx::query(log.statements.is_paused.clone())
        .bind(name)
        .fetch_optional(&mut *connection)
        .await
        .map_err(failed("find the subscription"))?;
    if let Some(row) = found {
        return get(&row, 0);
    }
    let rows = sqlx::query(log.statements.names.clone())
        .fetch_all(connection)
        .await
        .map_err(failed("list the subscriptions"))?;
    let names: Vec<String> = rows.iter().map(|row| get(row, 0)).collect::<Result<_>>()?;
    let known = if names.is_empty() { "there are none".to_owned() } else { names.join(", ") };
    Err(Error::new(ErrorKind::NotFound, format!("no subscription is called {name:?}; known are: {known}")))
}

/// A payload as text; bytes that are not text as hexadecimal digits, and what is over the limit as what is wrong with it.
fn payload_text(log: &Inner, stored: Stored) -> String {
    match stored {
        Stored::Bytes(bytes) => String::from_utf8(bytes)
            .unwrap_or_else(|error| error.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect()),
        Stored::TooLarge(size) => format!("({})", oversized(size, log.options.payload_limit)),
    }
}
