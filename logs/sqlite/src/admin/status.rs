//! The state of the log and of every subscription.

use std::{collections::HashMap, time::Duration};

use posthaste_core::{MAX_COUNTED, RelayStatus, Result, Status, SubscriptionStatus, Timestamp};
use sqlx::{SqliteConnection, sqlite::SqliteRow};

use super::{
    jobs::latest,
    lanes::{Ahead, LastLine, last_lines, relays},
};
use crate::{
    bind::json,
    error::{damaged, failed},
    log::Inner,
    row::get,
};

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(60 * 60);

pub(super) async fn status(log: &Inner) -> Result<Status> {
    let now = log.now();
    let mut connection = log.admin.take().await?;
    let mut tx = connection.begin_read().await?;
    let whole = sqlx::query(log.statements.status_log.clone())
        .bind(counted())
        .fetch_one(&mut *tx)
        .await
        .map_err(failed("status"))?;
    let lines = last_lines(log, &mut tx, None).await?;
    let mut relays = relays(log, &mut tx, now).await?;
    for relay in &mut relays {
        relay.lanes = lines.iter().filter(|line| line.holder() == Some(&relay.relay)).count() as u64;
    }
    let status = Status {
        now,
        schema_version: log.layout.version,
        lanes: log.layout.lanes,
        events: get(&whole, 0)?,
        events_estimated: get(&whole, 1)?,
        bytes: get(&whole, 2)?,
        orphaned: orphaned(log, &mut tx, &lines).await?,
        subscriptions: subscriptions(log, &mut tx, &lines, &relays).await?,
        relays,
        jobs: latest(log, &mut tx).await?,
    };
    tx.rollback().await.map_err(failed("status"))?;
    connection.put_back();
    Ok(status)
}

/// How many rows are counted one by one.
fn counted() -> i64 {
    i64::try_from(MAX_COUNTED).unwrap_or(i64::MAX)
}

/// What nobody will ever deliver. There is nothing to look at unless the tables are damaged.
async fn orphaned(log: &Inner, connection: &mut SqliteConnection, lines: &[LastLine]) -> Result<u64> {
    let mut lanes: Vec<u8> = lines.iter().filter(|line| line.n.is_none()).map(|line| line.lane.0).collect();
    lanes.dedup();
    let mut orphaned = 0;
    if !lanes.is_empty() {
        let events = sqlx::query(log.statements.orphaned_events.clone()).bind(json(&lanes)).bind(counted());
        orphaned += number(events.fetch_one(&mut *connection).await.map_err(failed("status"))?)?;
    }
    let parked = sqlx::query(log.statements.orphaned_parked.clone()).bind(counted());
    orphaned += number(parked.fetch_one(connection).await.map_err(failed("status"))?)?;
    Ok(orphaned)
}

fn number(row: SqliteRow) -> Result<u64> {
    get(&row, 0)
}

async fn subscriptions(
    log: &Inner,
    connection: &mut SqliteConnection,
    lines: &[LastLine],
    relays: &[RelayStatus],
) -> Result<Vec<SubscriptionStatus>> {
    let now = log.now();
    let minute = last_minute(log, connection, now).await?;
    let rows = sqlx::query(log.statements.status_subscriptions.clone())
        .bind(now.0)
        .bind(now.before(HOUR).0)
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
async fn last_minute(
    log: &Inner,
    connection: &mut SqliteConnection,
    now: Timestamp,
) -> Result<HashMap<String, u64>> {
    let rows = sqlx::query(log.statements.status_minute.clone())
        .bind(now.before(MINUTE).0)
        .bind(log.lanes())
        .fetch_all(connection)
        .await
        .map_err(failed("status"))?;
    rows.iter().map(|row| Ok((get(row, 0)?, get(row, 1)?))).collect()
}

/// What the row and the count of what is ahead tell; the lines tell the rest.
fn subscription_status(row: &SqliteRow, ahead: &Ahead, now: Timestamp) -> Result<SubscriptionStatus> {
    let (parked, delayed): (u64, u64) = numbers(row, 2)?;
    let (looked, behind): (u64, u64) = numbers(row, 3)?;
    let oldest_failed = get::<Option<i64>>(row, 4)?.map(Timestamp);
    let age = |time: Option<Timestamp>| time.map(|time| now.since(time).as_secs_f64());
    Ok(SubscriptionStatus {
        name: get(row, 0)?,
        paused: get(row, 1)?,
        pending: ahead.pending(),
        pending_estimated: ahead.sample.is_cut(),
        failed: parked - delayed,
        // Of many only the first were looked at.
        behind: behind * parked / looked.max(1),
        delayed,
        dead: get(row, 5)?,
        dead_last_hour: get(row, 6)?,
        oldest_age_seconds: age([ahead.oldest(), oldest_failed].into_iter().flatten().min()),
        oldest_failed_seconds: age(oldest_failed),
        ..SubscriptionStatus::default()
    })
}

/// Several numbers in one column, so that they come from one scan.
fn numbers<'r, T: serde::Deserialize<'r>>(row: &'r SqliteRow, column: usize) -> Result<T> {
    let json: &str = get(row, column)?;
    serde_json::from_str(json)
        .map_err(|error| damaged("status: the counts are no numbers").with_source(error))
}
