//! Events with their status, newest first, a page at a time.

use posthaste_core::{
    Error, EventFilter, EventStatus, EventSummary, Lane, Paged, Position, Result, StatusWord, Timestamp,
};
use sqlx::{SqliteConnection, sqlite::SqliteRow};

use super::{is_paused, page, rows_for};
use crate::{
    error::{damaged, failed},
    log::Inner,
    row::{get, id_of},
};

pub(super) async fn list(log: &Inner, filter: &EventFilter) -> Result<Paged<EventSummary>> {
    if filter.status.is_some() && filter.subscription.is_none() {
        return Err(Error::invalid("a status is asked for, but no subscription in which to have it"));
    }
    let now = log.now();
    let mut connection = log.admin.take().await?;
    let mut tx = connection.begin_read().await?;
    if let Some(name) = &filter.subscription {
        is_paused(log, &mut tx, name).await?;
    }
    let positions = positions(log, &mut tx, filter, now).await?;
    let items = summaries(log, &mut tx, &positions, filter.subscription.as_deref(), now).await?;
    tx.rollback().await.map_err(failed("list"))?;
    connection.put_back();
    Ok(page(items, filter.limit, |summary| summary.position.0))
}

/// The positions of the page, and one more, as a JSON array.
async fn positions(
    log: &Inner,
    connection: &mut SqliteConnection,
    filter: &EventFilter,
    now: Timestamp,
) -> Result<String> {
    let sql = match filter.status {
        None => &log.statements.list_log,
        Some(StatusWord::Failed | StatusWord::Delayed) => &log.statements.list_parked,
        Some(StatusWord::Dead) => &log.statements.list_dead,
        // Only the relay that reads it knows what is processing; no row has the word.
        Some(_) => &log.statements.list_word,
    };
    let query = sqlx::query(sql.clone())
        .bind(filter.cursor.unwrap_or(i64::MAX))
        .bind(filter.event_type.as_deref())
        .bind(filter.topic.as_deref())
        .bind(filter.key.as_deref())
        .bind(rows_for(filter.limit))
        .bind(filter.subscription.as_deref());
    let query = match filter.status {
        Some(StatusWord::Failed | StatusWord::Delayed) => {
            query.bind(filter.status == Some(StatusWord::Delayed)).bind(now.0)
        }
        status => query.bind(status.map(StatusWord::as_str)),
    };
    let row = query.fetch_one(connection).await.map_err(failed("list"))?;
    get(&row, 0)
}

/// The events at these positions, with their status in one subscription or in all.
pub(super) async fn summaries(
    log: &Inner,
    connection: &mut SqliteConnection,
    positions: &str,
    subscription: Option<&str>,
    now: Timestamp,
) -> Result<Vec<EventSummary>> {
    let events = sqlx::query(log.statements.summaries.clone())
        .bind(positions)
        .fetch_all(&mut *connection)
        .await
        .map_err(failed("list"))?;
    let statuses = sqlx::query(log.statements.statuses.clone())
        .bind(positions)
        .bind(subscription)
        .fetch_all(connection)
        .await
        .map_err(failed("list"))?;
    let mut summaries: Vec<EventSummary> = events.iter().map(summary).collect::<Result<_>>()?;
    // Both are in the order of the positions.
    let mut summary = summaries.iter_mut().peekable();
    for row in &statuses {
        let position = Position(get(row, 0)?);
        while summary.next_if(|summary| summary.position != position).is_some() {}
        if let Some(summary) = summary.peek_mut() {
            summary.statuses.push(event_status(row, now)?);
        }
    }
    Ok(summaries)
}

fn summary(row: &SqliteRow) -> Result<EventSummary> {
    Ok(EventSummary {
        position: Position(get(row, 0)?),
        id: id_of(row, 1)?,
        event_type: get(row, 2)?,
        topic: get(row, 3)?,
        key: get(row, 4)?,
        lane: Lane(get(row, 5)?),
        created_at: Timestamp(get(row, 6)?),
        statuses: Vec::new(),
    })
}

fn event_status(row: &SqliteRow, now: Timestamp) -> Result<EventStatus> {
    let due_at: Option<i64> = get(row, 5)?;
    let delayed: Option<bool> = get(row, 6)?;
    let status = match get::<&str>(row, 2)? {
        "parked" if delayed == Some(true) && due_at.is_some_and(|due_at| due_at > now.0) => {
            StatusWord::Delayed
        }
        "parked" => StatusWord::Failed,
        "dead" => StatusWord::Dead,
        "skipped" => StatusWord::Skipped,
        "pending" => StatusWord::Pending,
        "delivered" => StatusWord::Delivered,
        _ => return Err(damaged("list: the status view has an unknown word")),
    };
    Ok(EventStatus {
        subscription: get(row, 1)?,
        status,
        attempts: get(row, 3)?,
        last_error: get(row, 4)?,
        due_at: due_at.map(Timestamp),
    })
}
