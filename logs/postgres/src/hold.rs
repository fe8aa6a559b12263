//! Leases of relays, and how the lanes stand, in one transaction.

use posthaste_core::{
    Census, Cursor, Error, ErrorKind, Hold, LaneCensus, Lease, Position, RelayId, Result, Snapshot,
    SubscriptionCensus,
};
use sqlx::{PgConnection, postgres::PgRow};

use crate::{
    error::{damaged, failed},
    log::Inner,
    record::micros,
    row::{get, lane},
};

pub(crate) async fn hold(log: &Inner, lease: &Lease) -> Result<Hold> {
    let mut connection = log.hold.take().await?;
    connection.begin().await?;
    if !enrol_or_renew(log, &mut connection, lease).await? {
        connection.put_back().await?;
        return Ok(Hold::Lost);
    }
    let expired = log.query(&log.statements.expire_relays).bind(lease.relay.0.as_str()).bind(log.now());
    expired.execute(&mut *connection).await.map_err(failed("hold"))?;
    let census = census(log, &mut connection, &lease.subscriptions).await?;
    connection.put_back().await?;
    Ok(Hold::Alive(census))
}

/// Whether the relay has a row now.
async fn enrol_or_renew(log: &Inner, connection: &mut PgConnection, lease: &Lease) -> Result<bool> {
    let query = if lease.first {
        log.query(&log.statements.enrol)
            .bind(lease.relay.0.as_str())
            .bind(lease.host.as_str())
            .bind(lease.version.as_str())
            .bind(&lease.subscriptions)
            .bind(log.now())
            .bind(micros(lease.time))
    } else {
        log.query(&log.statements.renew)
            .bind(lease.relay.0.as_str())
            .bind(&lease.subscriptions)
            .bind(log.now())
            .bind(micros(lease.time))
    };
    let done = query.execute(connection).await.map_err(failed("hold"))?;
    Ok(done.rows_affected() == 1)
}

async fn census(log: &Inner, connection: &mut PgConnection, names: &[String]) -> Result<Census> {
    let mut asked: Vec<&str> = Vec::with_capacity(names.len());
    for name in names {
        if !asked.contains(&name.as_str()) {
            asked.push(name);
        }
    }
    let rows = log
        .query(&log.statements.census)
        .bind(asked)
        .bind(log.lanes())
        .fetch_all(connection)
        .await
        .map_err(failed("take the census"))?;
    let mut census = Census::default();
    for row in &rows {
        census.alone = get(row, 14)?;
        let name: &str = get(row, 0)?;
        if census.subscriptions.last().is_none_or(|last| last.name != name) {
            census.subscriptions.push(SubscriptionCensus {
                name: name.to_owned(),
                generation: get(row, 1)?,
                paused: get(row, 2)?,
                relays: u32::try_from(get::<i64>(row, 3)?).unwrap_or(u32::MAX),
                lanes: Vec::with_capacity(usize::from(log.layout.lanes)),
            });
        }
        if let Some(subscription) = census.subscriptions.last_mut() {
            subscription.lanes.push(lane_census(row, name)?);
        }
    }
    Ok(census)
}

fn lane_census(row: &PgRow, name: &str) -> Result<LaneCensus> {
    let lane = lane(row, 4)?;
    let n: Option<i64> = get(row, 5)?;
    let n = n.ok_or_else(|| {
        // Never taken for new: it would deliver everything again, or nothing.
        let message = format!("lane {lane} of subscription {name:?} has no line; the log is damaged");
        Error::new(ErrorKind::Schema, message)
    })?;
    Ok(LaneCensus {
        lane,
        n,
        cursor: cursor(row, 6)?,
        // Any position that was ever handed out may have been read; how far the holder before us got, nobody knows.
        seen: Position(get(row, 11)?),
        holder: get::<Option<String>>(row, 12)?.map(RelayId),
        troubled: get(row, 13)?,
    })
}

/// A cursor in five columns: number and text of both snapshots, and the position.
pub(crate) fn cursor(row: &PgRow, column: usize) -> Result<Cursor> {
    let snapshot = |column| -> Result<Snapshot> {
        let number: i64 = get(row, column)?;
        let text: Option<&str> = get(row, column + 1)?;
        let text =
            text.ok_or_else(|| damaged("a line stands on a snapshot that is gone; the log is damaged"))?;
        Ok(if number == 0 { Snapshot::default() } else { Snapshot::kept(number, text) })
    };
    Ok(Cursor { from: snapshot(column)?, to: snapshot(column + 2)?, after: Position(get(row, column + 4)?) })
}

pub(crate) async fn leave(log: &Inner, relay: &RelayId) -> Result<()> {
    let mut connection = log.hold.take().await?;
    let gone = log.query(&log.statements.leave).bind(relay.0.as_str());
    gone.execute(&mut *connection).await.map_err(failed("leave"))?;
    connection.put_back().await
}
