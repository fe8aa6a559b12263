//! Events with their status, newest first, a page at a time.

use posthaste_core::{
    Error, EventFilter, EventStatus, EventSummary, Paged, Position, Result, StatusWord, Timestamp,
};
use sqlx::{PgConnection, postgres::PgRow};

use super::{attempts, is_paused, page, reading, rows_for};
use crate::{
    error::{damaged, failed},
    log::Inner,
    row::{get, lane},
    value::{Id, Time},
};

pub(super) async fn list(log: &Inner, filter: &EventFilter) -> Result<Paged<EventSummary>> {
    if filter.status.is_some() && filter.subscription.is_none() {
        return Err(Error::invalid("a status is asked for, but no subscription in which to have it"));
    }
    let mut connection = reading(log).await?;
    if let Some(name) = &filter.subscription {
        is_paused(log, &mut connection, name).await?;
    }
    let positions = positions(log, &mut connection, filter).await?;
    let items = summaries(log, &mut connection, &positions, filter.subscription.as_deref()).await?;
    connection.put_back().await?;
    Ok(page(items, filter.limit, |summary| summary.position.0))
}

/// The positions of the page, and one more.
async fn positions(log: &Inner, connection: &mut PgConnection, filter: &EventFilter) -> Result<Vec<i64>> {
    let sql = match filter.status {
        None => &log.statements.list_log,
        Some(StatusWord::Failed | StatusWord::Delayed) => &log.statements.list_parked,
        Some(StatusWord::Dead) => &log.statements.list_dead,
        Some(StatusWord::Pending) => &log.statements.list_pending,
        // Only the relay that reads it knows what is processing; no row has the word.
        Some(_) => &log.statements.list_word,
    };
    let query = log
        .query(sql)
        .bind(filter.cursor.unwrap_or(i64::MAX))
        .bind(filter.event_type.as_deref())
        .bind(filter.topic.as_deref())
        .bind(filter.key.as_deref())
        .bind(rows_for(filter.limit));
    let query = match filter.status {
        None => query,
        Some(_) => query.bind(filter.subscription.as_deref()),
    };
    let query = match filter.status {
        None | Some(StatusWord::Dead | StatusWord::Pending) => query,
        Some(StatusWord::Failed) => query.bind(false).bind(log.now()),
        Some(StatusWord::Delayed) => query.bind(true).bind(log.now()),
        Some(word) => query.bind(word.as_str()),
    };
    let rows = query.fetch_all(connection).await.map_err(failed("list"))?;
    rows.iter().map(|row| get(row, 0)).collect()
}

/// The events at these positions, with their status in one subscription or in all.
pub(super) async fn summaries(
    log: &Inner,
    connection: &mut PgConnection,
    positions: &[i64],
    subscription: Option<&str>,
) -> Result<Vec<EventSummary>> {
    let events = log
        .query(&log.statements.summaries)
        .bind(positions)
        .fetch_all(&mut *connection)
        .await
        .map_err(failed("list"))?;
    let statuses = log
        .query(&log.statements.statuses)
        .bind(positions)
        .bind(subscription)
        .bind(log.now())
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
            summary.statuses.push(event_status(row)?);
        }
    }
    Ok(summaries)
}

fn summary(row: &PgRow) -> Result<EventSummary> {
    Ok(EventSummary {
        position: Position(get(row, 0)?),
        id: get::<Id>(row, 1)?.0,
        event_type: get(row, 2)?,
        topic: get(row, 3)?,
        key: get(row, 4)?,
        lane: lane(row, 5)?,
        created_at: get::<Time>(row, 6)?.0,
        statuses: Vec::new(),
    })
}

fn event_status(row: &PgRow) -> Result<EventStatus> {
    let due_at: Option<Timestamp> = get::<Option<Time>>(row, 5)?.map(|time| time.0);
    let status = match get::<&str>(row, 2)? {
        "parked" if get::<Option<bool>>(row, 6)? == Some(true) => StatusWord::Delayed,
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
        attempts: attempts(row, 3)?,
        last_error: get(row, 4)?,
        due_at,
    })
}
