//! Dead letters, oldest first, a page at a time.

use posthaste_core::{DeadFilter, DeadLetter, DeadReason, Paged, Position, Result, Timestamp};
use sqlx::sqlite::SqliteRow;

use super::{page, payload_text, rows_for};
use crate::{
    error::{damaged, failed},
    log::Inner,
    row::{Stored, get, id_of, is_null},
};

pub(super) async fn dead(log: &Inner, filter: &DeadFilter) -> Result<Paged<DeadLetter>> {
    let mut connection = log.admin.take().await?;
    let rows = sqlx::query(log.statements.dead_letters.clone())
        .bind(filter.cursor.unwrap_or(i64::MIN))
        .bind(filter.subscription.as_deref())
        .bind(filter.reason.map(DeadReason::as_str))
        .bind(filter.event_type.as_deref())
        .bind(filter.key.as_deref())
        .bind(filter.resolved)
        .bind(rows_for(filter.limit))
        .bind(log.payload_limit())
        .fetch_all(&mut *connection)
        .await
        .map_err(failed("list dead letters"))?;
    connection.put_back();
    let letters: Vec<DeadLetter> = rows.iter().map(|row| letter(log, row)).collect::<Result<_>>()?;
    Ok(page(letters, filter.limit, |letter| letter.dead_id))
}

fn letter(log: &Inner, row: &SqliteRow) -> Result<DeadLetter> {
    let reason: &str = get(row, 8)?;
    let resolved_at: Option<i64> = get(row, 14)?;
    Ok(DeadLetter {
        dead_id: get(row, 0)?,
        subscription: get(row, 1)?,
        position: Position(get(row, 2)?),
        id: id_of(row, 3)?,
        event_type: get(row, 4)?,
        topic: get(row, 5)?,
        key: get(row, 6)?,
        payload: payload_text(log, Stored::of(row, 7)?),
        reason: reason.parse().map_err(|error: posthaste_core::Error| {
            damaged("list dead letters: one has an unknown reason").with_source(error)
        })?,
        error: get(row, 9)?,
        attempts: get(row, 10)?,
        moved_at: Timestamp(get(row, 11)?),
        holds: get(row, 12)?,
        resolution: get(row, 13)?,
        resolved_at: resolved_at.map(Timestamp),
        resolved_by: get(row, 15)?,
        new_id: if is_null(row, 16)? { None } else { Some(id_of(row, 16)?) },
    })
}
