//! The state of the log and of every subscription.

use std::collections::HashMap;

use posthaste_core::{RelayStatus, Result, Status, SubscriptionStatus, Timestamp};
use sqlx::{PgConnection, postgres::PgRow};

use super::{
    count, counted,
    jobs::latest,
    lanes::{Ahead, LastLine, last_lines, relays},
};
use crate::{error::failed, log::Inner, row::get, value::Time};

pub(super) async fn status(log: &Inner) -> Result<Status> {
    let mut connection = log.desks.reading().await?;
    let whole = log
        .query(&log.statements.status_log)
        .bind(log.now())
        .fetch_one(&mut *connection)
        .await
        .map_err(failed("status"))?;
    let now = get::<Time>(&whole, 0)?.0;
    let lines = last_lines(log, &mut connection, None).await?;
    let mut relays = relays(log, &mut connection).await?;
    for relay in &mut relays {
        relay.lanes = lines.iter().filter(|line| line.holder() == Some(&relay.relay)).count() as u64;
    }
    let status = Status {
        now,
        schema_version: log.layout.version,
        lanes: log.layout.lanes,
        events: count(&whole, 1)?,
        events_estimated: get(&whole, 2)?,
        bytes: count(&whole, 3)?,
        orphaned: orphaned(log, &mut connection, &lines).await?,
        subscriptions: subscriptions(log, &mut connection, (&lines, &relays), now).await?,
        relays,
        jobs: latest(log, &mut connection).await?,
    };
    connection.put_back().await?;
    Ok(status)
}

/// What nobody will ever deliver. There is nothing to look at unless the tables are damaged.
async fn orphaned(log: &Inner, connection: &mut PgConnection, lines: &[LastLine]) -> Result<u64> {
    let mut lanes: Vec<i16> =
        lines.iter().filter(|line| line.n.is_none()).map(|line| i16::from(line.lane.0)).collect();
    lanes.dedup();
    let mut orphaned = 0;
    if !lanes.is_empty() {
        let events = log.query(&log.statements.orphaned_events).bind(lanes).bind(counted());
        orphaned += count(&events.fetch_one(&mut *connection).await.map_err(failed("status"))?, 0)?;
    }
    let parked = log.query(&log.statements.orphaned_parked).bind(counted());
    orphaned += count(&parked.fetch_one(connection).await.map_err(failed("status"))?, 0)?;
    Ok(orphaned)
}

async fn subscriptions(
    log: &Inner,
    connection: &mut PgConnection,
    (lines, relays): (&[LastLine], &[RelayStatus]),
    now: Timestamp,
) -> Result<Vec<SubscriptionStatus>> {
    let minute = last_minute(log, connection).await?;
    let rows = log
        .query(&log.statements.status_subscriptions)
        .bind(log.now())
        .bind(counted())
        .fetch_all(&mut *connection)
        .await
        .map_err(failed("status"))?;
    let mut subscriptions = Vec::new();
    for row in &rows {
        let name: &str = get(row, 0)?;
        let ahead = Ahead::of(log, connection, name).await?;
        let own: Vec<&LastLine> = lines.iter().filter(|line| line.subscription == name).collect();
        let mut status = subscription_status(row, &ahead, now)?;
        let is_held = |line: &LastLine| relays.iter().any(|relay| line.holder() == Some(&relay.relay));
        status.lanes_held = own.iter().filter(|line| is_held(line)).count() as u64;
        status.delivered = own.iter().map(|line| line.delivered).sum();
        status.delivered_last_minute = minute.get(name).copied().unwrap_or_default();
        status.moved_at = own.iter().filter_map(|line| line.at).max();
        subscriptions.push(status);
    }
    Ok(subscriptions)
}

/// How many deliveries the lines of the last minute tell of, by subscription.
async fn last_minute(log: &Inner, connection: &mut PgConnection) -> Result<HashMap<String, u64>> {
    let rows = log.query(&log.statements.status_minute).bind(log.now()).fetch_all(connection).await;
    rows.map_err(failed("status"))?.iter().map(|row| Ok((get(row, 0)?, count(row, 1)?))).collect()
}

/// What the row and the count of what is ahead tell; the lines tell the rest.
fn subscription_status(row: &PgRow, ahead: &Ahead, now: Timestamp) -> Result<SubscriptionStatus> {
    let (parked, delayed) = (count(row, 2)?, count(row, 3)?);
    let (looked, behind) = (count(row, 4)?, count(row, 5)?);
    let oldest_failed = get::<Option<Time>>(row, 6)?.map(|time| time.0);
    let age = |time: Option<Timestamp>| time.map(|time| now.since(time).as_secs_f64());
    Ok(SubscriptionStatus {
        name: get(row, 0)?,
        paused: get(row, 1)?,
        pending: ahead.pending(),
        pending_estimated: ahead.is_cut(),
        failed: parked.saturating_sub(delayed),
        // Of many only the first were looked at.
        behind: behind * parked / looked.max(1),
        delayed,
        dead: count(row, 7)?,
        dead_last_hour: count(row, 8)?,
        oldest_age_seconds: age([ahead.oldest(), oldest_failed].into_iter().flatten().min()),
        oldest_failed_seconds: age(oldest_failed),
        ..SubscriptionStatus::default()
    })
}
