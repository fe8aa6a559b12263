//! Dead letters: a page at a time, oldest first, and counted by what they died of.

use posthaste_core::{
    DeadFilter, DeadGroup, DeadLetter, DeadReason, MAX_GROUPS, Paged, Position, Result, Timestamp, page_size,
};
use sqlx::{SqliteConnection, sqlite::SqliteRow};

use super::{bind_filter, payload_text, rows_for};
use crate::{
    error::{damaged, failed},
    log::Inner,
    row::{Stored, get, id_of, is_null},
};

/// How many dead letters one page looks at.
const LOOK: i64 = 10_000;

pub(super) async fn dead(log: &Inner, filter: &DeadFilter) -> Result<Paged<DeadLetter>> {
    filter.validate()?;
    let size = page_size(filter.limit)?;
    let mut connection = log.admin.take().await?;
    let mut tx = connection.begin_read().await?;
    let span = Span::of(log, &mut tx, filter).await?;
    let query = span.bind(bind_filter(sqlx::query(log.statements.dead_letters.clone()), filter));
    let rows = query
        .bind(rows_for(size))
        .bind(log.payload_limit())
        .fetch_all(&mut *tx)
        .await
        .map_err(failed("list dead letters"))?;
    let ended_at = if rows.len() > size { None } else { span.end(log, &mut tx, filter).await? };
    tx.rollback().await.map_err(failed("list dead letters"))?;
    connection.put_back();
    let letters: Vec<DeadLetter> = rows.iter().map(|row| letter(log, row)).collect::<Result<_>>()?;
    Ok(Paged::of(letters, size, |letter| letter.dead_id, ended_at))
}

/// Which dead letters a page looks at: those of the time that is asked for, behind the page before.
struct Span {
    resolved: bool,
    behind: i64,
    until: i64,
}

impl Span {
    async fn of(log: &Inner, connection: &mut SqliteConnection, filter: &DeadFilter) -> Result<Self> {
        let cursor = filter.cursor.unwrap_or_default();
        if let Some(dead_id) = filter.dead_id {
            let behind = cursor.max(dead_id.saturating_sub(1));
            return Ok(Self { resolved: true, behind, until: dead_id });
        }
        let mut span = Self { resolved: filter.resolved, behind: cursor, until: i64::MAX };
        if filter.moved_after.is_none() && filter.moved_before.is_none() {
            return Ok(span);
        }
        let row = sqlx::query(log.statements.dead_span.clone())
            .bind(filter.moved_after.map(|time| time.0))
            .bind(filter.moved_before.map(|time| time.0))
            .fetch_one(connection)
            .await
            .map_err(failed("list dead letters"))?;
        if filter.moved_after.is_some() {
            let first: Option<i64> = get(&row, 0)?;
            span.behind = cursor.max(first.map_or(i64::MAX, |first| first.saturating_sub(1)));
        }
        if filter.moved_before.is_some() {
            span.until = get::<Option<i64>>(&row, 1)?.unwrap_or_default();
        }
        Ok(span)
    }

    fn bind<'q>(&self, query: crate::bind::Bound<'q>) -> crate::bind::Bound<'q> {
        query.bind(self.resolved).bind(self.behind).bind(self.until).bind(LOOK)
    }

    /// Where the look had to end, if it had to.
    async fn end(
        &self,
        log: &Inner,
        connection: &mut SqliteConnection,
        filter: &DeadFilter,
    ) -> Result<Option<i64>> {
        let query = self.bind(bind_filter(sqlx::query(log.statements.dead_looked.clone()), filter));
        let row = query.fetch_optional(connection).await.map_err(failed("list dead letters"))?;
        row.map(|row| get(&row, 0)).transpose()
    }
}

fn letter(log: &Inner, row: &SqliteRow) -> Result<DeadLetter> {
    let headers: Option<&str> = get(row, 12)?;
    let resolved_at: Option<i64> = get(row, 19)?;
    Ok(DeadLetter {
        dead_id: get(row, 0)?,
        subscription: get(row, 1)?,
        position: Position(get(row, 2)?),
        id: id_of(row, 3)?,
        event_type: get(row, 4)?,
        topic: get(row, 5)?,
        key: get(row, 6)?,
        aggregate_type: get(row, 7)?,
        aggregate_id: get(row, 8)?,
        tenant_id: get(row, 9)?,
        content_type: get(row, 10)?,
        payload: payload_text(log, Stored::of(row, 11)?),
        // What cannot be read here is told as the entry's defect when it is delivered.
        headers: headers.and_then(|json| serde_json::from_str(json).ok()).unwrap_or_default(),
        reason: reason(row, 13)?,
        error: get(row, 14)?,
        attempts: get(row, 15)?,
        moved_at: Timestamp(get(row, 16)?),
        holds: get(row, 17)?,
        resolution: get(row, 18)?,
        resolved_at: resolved_at.map(Timestamp),
        resolved_by: get(row, 20)?,
        new_id: if is_null(row, 21)? { None } else { Some(id_of(row, 21)?) },
    })
}

fn reason(row: &SqliteRow, column: usize) -> Result<DeadReason> {
    let reason: &str = get(row, column)?;
    reason.parse().map_err(|error: posthaste_core::Error| {
        damaged("list dead letters: one has an unknown reason").with_source(error)
    })
}

pub(super) async fn groups(log: &Inner, filter: &DeadFilter) -> Result<Vec<DeadGroup>> {
    filter.validate()?;
    let mut connection = log.admin.take().await?;
    let rows = bind_filter(sqlx::query(log.statements.dead_groups.clone()), filter)
        .bind(i64::try_from(MAX_GROUPS).unwrap_or(i64::MAX))
        .fetch_all(&mut *connection)
        .await
        .map_err(failed("count dead letters"))?;
    connection.put_back();
    rows.iter().map(group).collect()
}

fn group(row: &SqliteRow) -> Result<DeadGroup> {
    Ok(DeadGroup {
        subscription: get(row, 0)?,
        reason: reason(row, 1)?,
        event_type: get(row, 2)?,
        error: get(row, 3)?,
        count: get(row, 4)?,
        first_at: Timestamp(get(row, 5)?),
        last_at: Timestamp(get(row, 6)?),
    })
}
