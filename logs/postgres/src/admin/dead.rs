//! Dead letters: a page at a time, oldest first, and counted by what they died of.

use posthaste_core::{
    DeadFilter, DeadGroup, DeadLetter, DeadReason, MAX_GROUPS, Paged, Position, Result, page_size,
};
use sqlx::{PgConnection, postgres::PgRow};

use super::{attempts, bind_filter, count, payload_text, rows_for};
use crate::{
    error::{damaged, failed},
    log::Inner,
    row::get,
    statements::Bound,
    value::{Id, Time},
};

/// How many dead letters one page looks at.
const LOOK: i64 = 10_000;

pub(super) async fn dead(log: &Inner, filter: &DeadFilter) -> Result<Paged<DeadLetter>> {
    filter.validate()?;
    let size = page_size(filter.limit)?;
    let mut connection = log.desks.reading().await?;
    let span = Span::of(log, &mut connection, filter).await?;
    let rows = span
        .bind(bind_filter(log.query(&log.statements.dead_letters), filter))
        .bind(rows_for(size))
        .bind(log.payload_limit())
        .fetch_all(&mut *connection)
        .await
        .map_err(failed("list dead letters"))?;
    let ended_at = if rows.len() > size { None } else { span.end(log, &mut connection, filter).await? };
    connection.put_back().await?;
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
    async fn of(log: &Inner, connection: &mut PgConnection, filter: &DeadFilter) -> Result<Self> {
        let cursor = filter.cursor.unwrap_or_default();
        if let Some(dead_id) = filter.dead_id {
            let behind = cursor.max(dead_id.saturating_sub(1));
            return Ok(Self { resolved: true, behind, until: dead_id });
        }
        let mut span = Self { resolved: filter.resolved, behind: cursor, until: i64::MAX };
        if filter.moved_after.is_none() && filter.moved_before.is_none() {
            return Ok(span);
        }
        let row = log
            .query(&log.statements.dead_span)
            .bind(filter.moved_after.map(Time))
            .bind(filter.moved_before.map(Time))
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

    fn bind<'q>(&self, query: Bound<'q>) -> Bound<'q> {
        query.bind(self.resolved).bind(self.behind).bind(self.until).bind(LOOK)
    }

    /// Where the look had to end, if it had to.
    async fn end(
        &self,
        log: &Inner,
        connection: &mut PgConnection,
        filter: &DeadFilter,
    ) -> Result<Option<i64>> {
        let query = self.bind(bind_filter(log.query(&log.statements.dead_looked), filter));
        let row = query.fetch_optional(connection).await.map_err(failed("list dead letters"))?;
        row.map(|row| get(&row, 0)).transpose()
    }
}

fn letter(log: &Inner, row: &PgRow) -> Result<DeadLetter> {
    let headers: Option<&str> = get(row, 14)?;
    Ok(DeadLetter {
        dead_id: get(row, 0)?,
        subscription: get(row, 1)?,
        position: Position(get(row, 2)?),
        id: get::<Id>(row, 3)?.0,
        event_type: get(row, 4)?,
        topic: get(row, 5)?,
        key: get(row, 6)?,
        aggregate_type: get(row, 7)?,
        aggregate_id: get(row, 8)?,
        tenant_id: get(row, 9)?,
        content_type: get(row, 10)?,
        payload: payload_text(log, row, 11)?,
        // What cannot be read here is told as the entry's defect when it is delivered.
        headers: headers.and_then(|json| serde_json::from_str(json).ok()).unwrap_or_default(),
        reason: reason(row, 15)?,
        error: get(row, 16)?,
        attempts: attempts(row, 17)?,
        moved_at: get::<Time>(row, 18)?.0,
        holds: get(row, 19)?,
        resolution: get(row, 20)?,
        resolved_at: get::<Option<Time>>(row, 21)?.map(|time| time.0),
        resolved_by: get(row, 22)?,
        new_id: get::<Option<Id>>(row, 23)?.map(|id| id.0),
    })
}

fn reason(row: &PgRow, column: usize) -> Result<DeadReason> {
    let reason: &str = get(row, column)?;
    reason.parse().map_err(|error: posthaste_core::Error| {
        damaged("list dead letters: one has an unknown reason").with_source(error)
    })
}

/// What a person did about a dead letter, if anything; none if there is no such dead letter.
pub(super) async fn resolution(
    log: &Inner,
    connection: &mut PgConnection,
    dead_id: i64,
) -> Result<Option<Option<String>>> {
    let asked = log.query(&log.statements.dead_resolution).bind(dead_id).fetch_optional(connection).await;
    asked.map_err(failed("find a dead letter"))?.map(|row| get(&row, 0)).transpose()
}

pub(super) async fn groups(log: &Inner, filter: &DeadFilter) -> Result<Vec<DeadGroup>> {
    filter.validate()?;
    let mut connection = log.desks.counting().await?;
    let rows = bind_filter(log.query(&log.statements.dead_groups), filter)
        .bind(i64::try_from(MAX_GROUPS).unwrap_or(i64::MAX))
        .fetch_all(&mut *connection)
        .await
        .map_err(failed("count dead letters"))?;
    connection.put_back().await?;
    rows.iter().map(group).collect()
}

fn group(row: &PgRow) -> Result<DeadGroup> {
    Ok(DeadGroup {
        subscription: get(row, 0)?,
        reason: reason(row, 1)?,
        event_type: get(row, 2)?,
        error: get(row, 3)?,
        count: count(row, 4)?,
        first_at: get::<Time>(row, 5)?.0,
        last_at: get::<Time>(row, 6)?.0,
    })
}
