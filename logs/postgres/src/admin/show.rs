//! One event with all that happened to it: the journal, and for plain successes the line of their batch.

use posthaste_core::{
    EventId, EventStatus, EventSummary, Position, Result, StatusWord, Timeline, TimelineItem, driver::refuse,
};
use sqlx::PgConnection;

use super::{list::summaries, payload_text};
use crate::{
    error::failed,
    log::Inner,
    row::get,
    value::{Id, Time},
};

pub(super) async fn show(log: &Inner, id: EventId) -> Result<Timeline> {
    let mut connection = log.desks.reading().await?;
    let found = log
        .query(&log.statements.find_event)
        .bind(log.payload_limit())
        .bind(Id(id))
        .fetch_optional(&mut *connection)
        .await
        .map_err(failed("show"))?
        .ok_or_else(|| refuse::no_event(id))?;
    let events = summaries(log, &mut connection, &[get(&found, 0)?], None).await?;
    let event = events.into_iter().next().ok_or_else(|| refuse::no_event(id))?;
    let items = items(log, &mut connection, &event).await?;
    connection.put_back().await?;
    let headers: Option<&str> = get(&found, 4)?;
    Ok(Timeline {
        event,
        payload: payload_text(log, &found, 1)?,
        // What cannot be read here is told as the entry's defect when it is delivered.
        headers: headers.and_then(|json| serde_json::from_str(json).ok()).unwrap_or_default(),
        items,
    })
}

async fn items(
    log: &Inner,
    connection: &mut PgConnection,
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
    connection: &mut PgConnection,
    position: Position,
) -> Result<Vec<TimelineItem>> {
    let rows = log
        .query(&log.statements.journal_of)
        .bind(position.0)
        .fetch_all(connection)
        .await
        .map_err(failed("show"))?;
    rows.iter()
        .map(|row| {
            Ok(TimelineItem {
                at: get::<Time>(row, 0)?.0,
                subscription: get(row, 1)?,
                what: get(row, 2)?,
                attempt: get::<Option<i32>>(row, 3)?.and_then(|attempt| u32::try_from(attempt).ok()),
                detail: get(row, 4)?,
                by: get(row, 5)?,
            })
        })
        .collect()
}

/// A success that the journal does not tell of: the line that passed the event says when and by whom.
async fn plain_success(
    log: &Inner,
    connection: &mut PgConnection,
    event: &EventSummary,
    status: &EventStatus,
) -> Result<Option<TimelineItem>> {
    let row = log
        .query(&log.statements.passing_line)
        .bind(status.subscription.as_str())
        .bind(i16::from(event.lane.0))
        .bind(event.position.0)
        .fetch_optional(connection)
        .await
        .map_err(failed("show"))?;
    let Some(row) = row else { return Ok(None) };
    Ok(Some(TimelineItem::delivered(&status.subscription, get::<Time>(&row, 0)?.0, get(&row, 1)?)))
}
