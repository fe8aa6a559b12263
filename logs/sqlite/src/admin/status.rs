//! The state of the log and of every subscription.

use posthaste_core::{Result, Status, SubscriptionStatus, Timestamp};
use sqlx::sqlite::SqliteRow;

use crate::{
    error::{damaged, failed},
    log::Inner,
    row::get,
};

pub(super) async fn status(log: &Inner) -> Result<Status> {
    let now = log.now();
    let mut connection = log.admin.take().await?;
    let mut tx = connection.begin_read().await?;
    let whole = sqlx::query(log.statements.status_log.clone())
        .bind(now.0)
        .fetch_one(&mut *tx)
        .await
        .map_err(failed("status"))?;
    let rows = sqlx::query(log.statements.status_subscriptions.clone())
        .bind(now.0)
        .bind(log.lanes())
        .fetch_all(&mut *tx)
        .await
        .map_err(failed("status"))?;
    tx.rollback().await.map_err(failed("status"))?;
    connection.put_back();
    Ok(Status {
        schema_version: log.layout.version,
        lanes: log.layout.lanes,
        events: get(&whole, 0)?,
        bytes: get(&whole, 1)?,
        relays: get(&whole, 2)?,
        subscriptions: rows.iter().map(|row| subscription_status(row, now)).collect::<Result<_>>()?,
    })
}

fn subscription_status(row: &SqliteRow, now: Timestamp) -> Result<SubscriptionStatus> {
    let (pending, oldest_pending): (u64, Option<i64>) = numbers(row, 2)?;
    let (parked, delayed, oldest_failed): (u64, u64, Option<i64>) = numbers(row, 3)?;
    let oldest = [oldest_pending, oldest_failed].into_iter().flatten().min();
    Ok(SubscriptionStatus {
        name: get(row, 0)?,
        paused: get(row, 1)?,
        pending,
        failed: parked - delayed,
        delayed,
        dead: get(row, 4)?,
        delivered: get(row, 5)?,
        lanes_held: get(row, 6)?,
        oldest_age_seconds: oldest.map(|created_at| now.since(Timestamp(created_at)).as_secs_f64()),
    })
}

/// Several numbers in one column, so that they come from one scan.
fn numbers<'r, T: serde::Deserialize<'r>>(row: &'r SqliteRow, column: usize) -> Result<T> {
    let json: &str = get(row, column)?;
    serde_json::from_str(json)
        .map_err(|error| damaged("status: the counts are no numbers").with_source(error))
}
