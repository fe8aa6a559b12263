//! Events with their status, a page at a time.

use posthaste_core::{
    EventFilter, EventStatus, EventSummary, Extent, Lane, Look, Paged, Position, Result, Sort, StatusWord,
    Timestamp, page_size,
};
use sqlx::{SqlStr, SqliteConnection, sqlite::SqliteRow};

use super::{is_paused, rows_for};
use crate::{
    error::{damaged, failed},
    log::Inner,
    row::{get, id_of},
};

/// How many positions one page looks at.
const LOOK: i64 = 10_000;

/// How many if the status of each has to be found out.
const LOOK_AT_STATUS: i64 = 1_000;

/// Times and positions grow together, but for as much as two writers can be apart.
const SLACK: std::time::Duration = std::time::Duration::from_secs(1);

pub(super) async fn list(log: &Inner, filter: &EventFilter) -> Result<Paged<EventSummary>> {
    filter.validate()?;
    let size = page_size(filter.limit)?;
    let now = log.now();
    let mut connection = log.admin.take().await?;
    let mut tx = connection.begin_read().await?;
    if let Some(name) = &filter.subscription {
        is_paused(log, &mut tx, name).await?;
    }
    let look = look(log, &mut tx, filter).await?;
    let positions = positions(log, &mut tx, (filter, rows_for(size)), look, now).await?;
    let mut items = summaries(log, &mut tx, &positions, filter.subscription.as_deref(), now).await?;
    tx.rollback().await.map_err(failed("list"))?;
    connection.put_back();
    if filter.sort == Sort::OldestFirst {
        items.reverse();
    }
    Ok(Paged::of(items, size, |summary| summary.position.0, look.ended_at))
}

/// Which part of the log this page looks at.
async fn look(log: &Inner, connection: &mut SqliteConnection, filter: &EventFilter) -> Result<Look> {
    let extent = extent(log, connection, filter).await?;
    let width = if filter.status.is_some() { LOOK_AT_STATUS } else { LOOK };
    let edge = match filter.status {
        Some(StatusWord::Failed | StatusWord::Delayed) => &log.statements.edge_parked,
        Some(StatusWord::Dead) => &log.statements.edge_dead,
        _ => return Ok(Look::new(extent, filter.sort, filter.cursor, width)),
    };
    // What is parked or dead is far apart in the log: so many rows, and not so many positions.
    let all = Look::new(extent, filter.sort, filter.cursor, i64::MAX);
    let end = sqlx::query(edge.clone())
        .bind(filter.subscription.as_deref())
        .bind(all.before)
        .bind(width - 1)
        .fetch_optional(connection)
        .await
        .map_err(failed("list"))?;
    let end: Option<i64> = end.map(|row| get(&row, 0)).transpose()?;
    Ok(match end.filter(|end| *end > all.behind) {
        Some(end) => Look { behind: end - 1, ended_at: Some(end), ..all },
        None => all,
    })
}

/// The positions that can fit: all there are, or those of the time that is asked for.
async fn extent(log: &Inner, connection: &mut SqliteConnection, filter: &EventFilter) -> Result<Extent> {
    let row = sqlx::query(log.statements.extent.clone())
        .fetch_one(&mut *connection)
        .await
        .map_err(failed("list"))?;
    let (first, last): (Option<i64>, Option<i64>) = (get(&row, 0)?, get(&row, 1)?);
    let mut extent = Extent { first: first.unwrap_or(1), last: last.unwrap_or_default() };
    if let Some(time) = filter.created_after {
        let first = position_at(log, connection, time.before(SLACK)).await?;
        extent.first = first.unwrap_or(extent.first);
    }
    if let Some(time) = filter.created_before {
        let behind = position_at(log, connection, time + SLACK).await?;
        extent.last = behind.map_or(extent.last, |behind| behind - 1);
    }
    Ok(extent)
}

/// The first position that was written at this time or later, or the one behind the last; none in an empty log.
pub(super) async fn position_at(
    log: &Inner,
    connection: &mut SqliteConnection,
    time: Timestamp,
) -> Result<Option<i64>> {
    let found = sqlx::query(log.statements.position_at.clone()).bind(time.0).fetch_one(connection).await;
    get(&found.map_err(failed("find a time"))?, 0)
}

/// The positions of the page, and one more, as a JSON array.
async fn positions(
    log: &Inner,
    connection: &mut SqliteConnection,
    (filter, rows): (&EventFilter, i64),
    look: Look,
    now: Timestamp,
) -> Result<String> {
    let query = sqlx::query(statement(log, filter).clone())
        .bind(look.behind)
        .bind(look.before)
        .bind(rows)
        .bind(filter.event_type.as_deref())
        .bind(filter.topic.as_deref())
        .bind(filter.key.as_deref())
        .bind(filter.aggregate_type.as_deref())
        .bind(filter.aggregate_id.as_deref())
        .bind(filter.tenant_id.as_deref())
        .bind(filter.created_after.map(|time| time.0))
        .bind(filter.created_before.map(|time| time.0))
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

fn statement<'l>(log: &'l Inner, filter: &EventFilter) -> &'l SqlStr {
    match (filter.status, filter.sort) {
        (None, Sort::NewestFirst) => &log.statements.list_log,
        (None, Sort::OldestFirst) => &log.statements.list_oldest,
        (Some(StatusWord::Failed | StatusWord::Delayed), _) => &log.statements.list_parked,
        (Some(StatusWord::Dead), _) => &log.statements.list_dead,
        // Only the relay that reads it knows what is processing; no row has the word.
        (Some(_), _) => &log.statements.list_word,
    }
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
        .bind(now.0)
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
    let deliver_after: Option<i64> = get(row, 14)?;
    Ok(EventSummary {
        position: Position(get(row, 0)?),
        id: id_of(row, 1)?,
        event_type: get(row, 2)?,
        event_version: get(row, 3)?,
        topic: get(row, 4)?,
        key: get(row, 5)?,
        lane: Lane(get(row, 6)?),
        aggregate_type: get(row, 7)?,
        aggregate_id: get(row, 8)?,
        version: get(row, 9)?,
        tenant_id: get(row, 10)?,
        correlation_id: get(row, 11)?,
        occurred_at: Timestamp(get(row, 12)?),
        created_at: Timestamp(get(row, 13)?),
        deliver_after: deliver_after.map(Timestamp),
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
    let blocked_by: Option<i64> = get(row, 7)?;
    Ok(EventStatus {
        subscription: get(row, 1)?,
        status,
        attempts: get(row, 3)?,
        last_error: get(row, 4)?,
        due_at: due_at.map(Timestamp),
        // What waits for its time waits for nobody else.
        blocked_by: blocked_by.filter(|_| status != StatusWord::Delayed).map(Position),
    })
}
