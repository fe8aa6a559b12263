//! One event with all that happened to it: the journal, and for plain successes the line of their batch.

use posthaste_core::{
    EventId, EventStatus, EventSummary, Position, Result, StatusWord, Timeline, TimelineItem, Timestamp,
    driver::refuse,
};
use sqlx::SqliteConnection;

use super::{list::summaries, payload_text};
use crate::{
    error::failed,
    log::Inner,
    row::{Stored, get},
};

pub(super) async fn show(log: &Inner, id: EventId) -> Result<Timeline> {
    let mut connection = log.admin.take().await?;
    let mut tx = connection.begin_read().await?;
    let found = sqlx::query(log.statements.find_event.clone())
        .bind(id.as_bytes().as_slice())
        .bind(log.payload_limit())
        .fetch_optional(&mut *tx)
        .await
        .map_err(failed("show"))?
        .ok_or_else(|| refuse::no_event(id))?;
    let position: i64 = get(&found, 0)?;
    let events = summaries(log, &mut tx, &format!("[{position}]"), None, log.now()).await?;
    let event = events.into_iter().next().ok_or_else(|| refuse::no_event(id))?;
    let items = items(log, &mut tx, &event).await?;
    tx.rollback().await.map_err(failed("show"))?;
    connection.put_back();
    let headers: Option<&str> = get(&found, 2)?;
    Ok(Timeline {
        event,
        payload: payload_text(log, Stored::of(&found, 1)?),
        // What cannot be read here is told as the entry's defect when it is delivered.
        headers: headers.and_then(|json| serde_json::from_str(json).ok()).unwrap_or_default(),
        items,
    })
}

async fn items(
    log: &Inner,
    connection: &mut SqliteConnection,
    event: &EventSummary,
) -> Result<Vec<TimelineItem>> {
    let mut items = vec![TimelineItem::published(event.created_at)];
    items.extend(journal(log, connection, event.position).await?);
    for status in event.statuses.iter().filter(|status| status.status == StatusWord::Delivered) {
        let plain = plain_success(log, connection, event, status).await?;
        items.extend(plain.filter(|plain| !plain.is_told_by(&items)));
    }
    items.sort_by_key(|item| item.at);
    Ok(items)
}

async fn journal(
    log: &Inner,
    connection: &mut SqliteConnection,
    position: Position,
) -> Result<Vec<TimelineItem>> {
    let rows = sqlx::query(log.statements.journal_of.clone())
        .bind(position.0)
        .fetch_all(connection)
        .await
        .map_err(failed("show"))?;
    rows.iter()
        .map(|row| {
            Ok(TimelineItem {
                at: Timestamp(get(row, 0)?),
                subscription: get(row, 1)?,
                what: get(row, 2)?,
                attempt: get(row, 3)?,
                detail: get(row, 4)?,
                by: get(row, 5)?,
            })
        })
        .collect()
}

/// A success that the journal does not tell of: the line that passed the event says when and by whom.
async fn plain_success(
    log: &Inner,
    connection: &mut SqliteConnection,
    event: &EventSummary,
    status: &EventStatus,
) -> Result<Option<TimelineItem>> {
    let row = sqlx::query(log.statements.passing_line.clone())
        .bind(status.subscription.as_str())
        .bind(event.lane.0)
        .bind(event.position.0)
        .fetch_optional(connection)
        .await
        .map_err(failed("show"))?;
    let Some(row) = row else { return Ok(None) };
    Ok(Some(TimelineItem::delivered(&status.subscription, Timestamp(get(&row, 0)?), get(&row, 1)?)))
}
