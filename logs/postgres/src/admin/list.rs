//! Events with their status, a page at a time.

use posthaste_core::{
    EventFilter, EventStatus, EventSummary, Extent, Look, Paged, Position, Result, Sort, StatusWord,
    Timestamp, page_size,
};
use sqlx::{PgConnection, SqlStr, postgres::PgRow};

use super::{attempts, is_paused, lanes::Ahead, rows_for};
use crate::{
    error::{damaged, failed},
    log::Inner,
    row::{get, lane},
    statements::Bound,
    value::{Id, Time},
};

/// How many positions one page looks at.
const LOOK: i64 = 10_000;

/// How many if the status of each has to be found out.
const LOOK_AT_STATUS: i64 = 500;

/// Times and positions grow together, but for as much as two writers can be apart.
const SLACK: std::time::Duration = std::time::Duration::from_secs(1);

pub(super) async fn list(log: &Inner, filter: &EventFilter) -> Result<Paged<EventSummary>> {
    filter.validate()?;
    let size = page_size(filter.limit)?;
    let mut connection = log.desks.reading().await?;
    if let Some(name) = &filter.subscription {
        is_paused(log, &mut connection, name).await?;
    }
    let (sql, look) = look(log, &mut connection, filter).await?;
    let rows = asked(log, sql, filter, look, rows_for(size)).fetch_all(&mut *connection).await;
    let rows = rows.map_err(failed("list"))?;
    let positions: Vec<i64> = rows.iter().map(|row| get(row, 0)).collect::<Result<_>>()?;
    let mut items = summaries(log, &mut connection, &positions, filter.subscription.as_deref()).await?;
    connection.put_back().await?;
    if filter.sort == Sort::OldestFirst {
        items.reverse();
    }
    Ok(Paged::of(items, size, |summary| summary.position.0, look.ended_at))
}

/// By which statement events are found, and which part of the log this page looks at.
async fn look<'l>(
    log: &'l Inner,
    connection: &mut PgConnection,
    filter: &EventFilter,
) -> Result<(&'l SqlStr, Look)> {
    let extent = extent_of(log, connection, filter).await?;
    let statements = &log.statements;
    let narrow = |width| Look::new(extent, filter.sort, filter.cursor, width);
    // What is parked, dead or pending is far apart in the log: not so many positions, but so many rows.
    let all = narrow(i64::MAX);
    match filter.status {
        None if filter.sort == Sort::OldestFirst => Ok((&statements.list_oldest, narrow(LOOK))),
        None => Ok((&statements.list_log, narrow(LOOK))),
        Some(StatusWord::Failed | StatusWord::Delayed) => {
            let look = up_to_edge(log, connection, (&statements.edge_parked, filter), all).await?;
            Ok((&statements.list_parked, look))
        }
        Some(StatusWord::Dead) => {
            let look = up_to_edge(log, connection, (&statements.edge_dead, filter), all).await?;
            Ok((&statements.list_dead, look))
        }
        Some(StatusWord::Pending) => {
            let name = filter.subscription.as_deref().unwrap_or_default();
            let few = !Ahead::of(log, connection, name).await?.is_cut();
            Ok(if few {
                (&statements.list_pending, all)
            } else {
                (&statements.list_word, narrow(LOOK_AT_STATUS))
            })
        }
        // Only the relay that reads it knows what is processing; no row has the word.
        Some(_) => Ok((&statements.list_word, narrow(LOOK_AT_STATUS))),
    }
}

/// As many rows of a table as one page looks at.
async fn up_to_edge(
    log: &Inner,
    connection: &mut PgConnection,
    (edge, filter): (&SqlStr, &EventFilter),
    all: Look,
) -> Result<Look> {
    let end = log
        .query(edge)
        .bind(filter.subscription.as_deref())
        .bind(all.before)
        .bind(LOOK_AT_STATUS - 1)
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
async fn extent_of(log: &Inner, connection: &mut PgConnection, filter: &EventFilter) -> Result<Extent> {
    let mut extent = extent(log, connection).await?;
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

/// The first and the last position that there is.
pub(super) async fn extent(log: &Inner, connection: &mut PgConnection) -> Result<Extent> {
    let found = log.query(&log.statements.extent).fetch_one(connection).await;
    let row = found.map_err(failed("find the ends of the log"))?;
    let (first, last): (Option<i64>, Option<i64>) = (get(&row, 0)?, get(&row, 1)?);
    Ok(Extent { first: first.unwrap_or(1), last: last.unwrap_or_default() })
}

/// The first position that was written at this time or later, or the one behind the last; none in an empty log.
pub(super) async fn position_at(
    log: &Inner,
    connection: &mut PgConnection,
    time: Timestamp,
) -> Result<Option<i64>> {
    let found = log.query(&log.statements.position_at).bind(Time(time)).fetch_one(connection).await;
    get(&found.map_err(failed("find a time"))?, 0)
}

/// Asks for the positions of the page.
fn asked(log: &Inner, sql: &SqlStr, filter: &EventFilter, look: Look, rows: i64) -> Bound<'static> {
    let query = log
        .query(sql)
        .bind(look.behind)
        .bind(look.before)
        .bind(rows)
        .bind(filter.event_type.clone())
        .bind(filter.topic.clone())
        .bind(filter.key.clone())
        .bind(filter.aggregate_type.clone())
        .bind(filter.aggregate_id.clone())
        .bind(filter.tenant_id.clone())
        .bind(filter.created_after.map(Time))
        .bind(filter.created_before.map(Time));
    let query = match filter.status {
        None => query,
        Some(_) => query.bind(filter.subscription.clone()),
    };
    match filter.status {
        None | Some(StatusWord::Dead) => query,
        Some(StatusWord::Failed) => query.bind(false).bind(log.now()),
        Some(StatusWord::Delayed) => query.bind(true).bind(log.now()),
        Some(word) => query.bind(word.as_str()),
    }
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
        event_version: get(row, 3)?,
        topic: get(row, 4)?,
        key: get(row, 5)?,
        lane: lane(row, 6)?,
        aggregate_type: get(row, 7)?,
        aggregate_id: get(row, 8)?,
        version: get(row, 9)?,
        tenant_id: get(row, 10)?,
        correlation_id: get(row, 11)?,
        occurred_at: get::<Time>(row, 12)?.0,
        created_at: get::<Time>(row, 13)?.0,
        deliver_after: get::<Option<Time>>(row, 14)?.map(|time| time.0),
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
    let blocked_by: Option<i64> = get(row, 7)?;
    Ok(EventStatus {
        subscription: get(row, 1)?,
        status,
        attempts: attempts(row, 3)?,
        last_error: get(row, 4)?,
        due_at,
        // What waits for its time waits for nobody else.
        blocked_by: blocked_by.filter(|_| status != StatusWord::Delayed).map(Position),
    })
}
