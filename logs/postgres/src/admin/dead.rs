//! Dead letters, oldest first, a page at a time.

use posthaste_core::{DeadFilter, DeadLetter, DeadReason, Paged, Position, Result};
use sqlx::postgres::PgRow;

use super::{attempts, page, payload_text, reading, rows_for};
use crate::{
    error::{damaged, failed},
    log::Inner,
    row::get,
    value::{Id, Time},
};

pub(super) async fn dead(log: &Inner, filter: &DeadFilter) -> Result<Paged<DeadLetter>> {
    let mut connection = reading(log).await?;
    let rows = log
        .query(&log.statements.dead_letters)
        .bind(log.payload_limit())
        .bind(filter.cursor.unwrap_or(i64::MIN))
        .bind(filter.subscription.as_deref())
        .bind(filter.reason.map(DeadReason::as_str))
        .bind(filter.event_type.as_deref())
        .bind(filter.key.as_deref())
        .bind(filter.resolved)
        .bind(rows_for(filter.limit))
        .fetch_all(&mut *connection)
        .await
        .map_err(failed("list dead letters"))?;
    connection.put_back().await?;
    let letters: Vec<DeadLetter> = rows.iter().map(|row| letter(log, row)).collect::<Result<_>>()?;
    Ok(page(letters, filter.limit, |letter| letter.dead_id))
}

fn letter(log: &Inner, row: &PgRow) -> Result<DeadLetter> {
    let reason: &str = get(row, 10)?;
    Ok(DeadLetter {
        dead_id: get(row, 0)?,
        subscription: get(row, 1)?,
        position: Position(get(row, 2)?),
        id: get::<Id>(row, 3)?.0,
        event_type: get(row, 4)?,
        topic: get(row, 5)?,
        key: get(row, 6)?,
        payload: payload_text(log, row, 7)?,
        reason: reason.parse().map_err(|error: posthaste_core::Error| {
            damaged("list dead letters: one has an unknown reason").with_source(error)
        })?,
        error: get(row, 11)?,
        attempts: attempts(row, 12)?,
        moved_at: get::<Time>(row, 13)?.0,
        holds: get(row, 14)?,
        resolution: get(row, 15)?,
        resolved_at: get::<Option<Time>>(row, 16)?.map(|time| time.0),
        resolved_by: get(row, 17)?,
        new_id: get::<Option<Id>>(row, 18)?.map(|id| id.0),
    })
}
