//! What operators did, newest first, a page at a time.

use posthaste_core::{AuditEntry, AuditFilter, Paged, Result, page_size};
use sqlx::postgres::PgRow;

use super::{count, rows_for};
use crate::{error::failed, log::Inner, row::get, value::Time};

pub(super) async fn audit(log: &Inner, filter: &AuditFilter) -> Result<Paged<AuditEntry>> {
    filter.validate()?;
    let size = page_size(filter.limit)?;
    let mut connection = log.desks.reading().await?;
    let rows = log
        .query(&log.statements.audit)
        .bind(filter.cursor.unwrap_or(i64::MAX))
        .bind(filter.by.as_deref())
        .bind(filter.what.as_deref())
        .bind(filter.subscription.as_deref())
        .bind(rows_for(size))
        .fetch_all(&mut *connection)
        .await
        .map_err(failed("audit"))?;
    connection.put_back().await?;
    let entries = rows.iter().map(entry).collect::<Result<_>>()?;
    Ok(Paged::of(entries, size, |entry: &AuditEntry| entry.number, None))
}

fn entry(row: &PgRow) -> Result<AuditEntry> {
    Ok(AuditEntry {
        number: get(row, 0)?,
        at: get::<Time>(row, 1)?.0,
        by: get(row, 2)?,
        what: get(row, 3)?,
        subscription: get(row, 4)?,
        concerned: count(row, 5)?,
        detail: get(row, 6)?,
    })
}
