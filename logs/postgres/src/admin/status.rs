//! The state of the log and of every subscription.

use posthaste_core::{Result, Status, SubscriptionStatus, Timestamp};
use sqlx::postgres::PgRow;

use super::{count, reading};
use crate::{error::failed, log::Inner, row::get, value::Time};

pub(super) async fn status(log: &Inner) -> Result<Status> {
    let mut connection = reading(log).await?;
    let whole = log
        .query(&log.statements.status_log)
        .bind(log.now())
        .fetch_one(&mut *connection)
        .await
        .map_err(failed("status"))?;
    let rows = log
        .query(&log.statements.status_subscriptions)
        .bind(log.now())
        .fetch_all(&mut *connection)
        .await
        .map_err(failed("status"))?;
    connection.put_back().await?;
    let now = get::<Time>(&whole, 0)?.0;
    Ok(Status {
        schema_version: log.layout.version,
        lanes: log.layout.lanes,
        events: count(&whole, 1)?,
        bytes: count(&whole, 2)?,
        relays: count(&whole, 3)?,
        subscriptions: rows.iter().map(|row| subscription_status(row, now)).collect::<Result<_>>()?,
    })
}

fn subscription_status(row: &PgRow, now: Timestamp) -> Result<SubscriptionStatus> {
    let (oldest_pending, oldest_failed): (Option<Time>, Option<Time>) = (get(row, 3)?, get(row, 6)?);
    let oldest = [oldest_pending, oldest_failed].into_iter().flatten().map(|time| time.0).min();
    let (parked, delayed) = (count(row, 4)?, count(row, 5)?);
    Ok(SubscriptionStatus {
        name: get(row, 0)?,
        paused: get(row, 1)?,
        pending: count(row, 2)?,
        failed: parked.saturating_sub(delayed),
        delayed,
        dead: count(row, 7)?,
        delivered: count(row, 8)?,
        lanes_held: count(row, 9)?,
        oldest_age_seconds: oldest.map(|created_at| now.since(created_at).as_secs_f64()),
    })
}
