//! Leases of relays, and how the lanes stand, in one transaction.

use posthaste_core::{
    Census, Cursor, Error, ErrorKind, Hold, Lane, LaneCensus, Lease, Position, RelayId, Result,
    SubscriptionCensus,
};
use sqlx::{SqliteConnection, sqlite::SqliteRow};

use crate::{bind::json, error::failed, log::Inner, row::get, statistics};

pub(crate) async fn hold(log: &Inner, lease: &Lease) -> Result<Hold> {
    let mut connection = log.hold.take().await?;
    let mut tx = connection.begin_immediate().await?;
    // Asked for only now: waiting for other writers must not shorten the lease, nor end another's too early.
    let now = log.now();
    let held_until = now + lease.time;
    if !enrol_or_renew(log, &mut tx, lease, (now.0, held_until.0)).await? {
        tx.rollback().await?;
        connection.put_back();
        return Ok(Hold::Lost);
    }
    let expired = sqlx::query(log.statements.expire_relays.clone()).bind(lease.relay.0.as_str()).bind(now.0);
    expired.execute(&mut *tx).await.map_err(failed("hold"))?;
    let census = census(log, &mut tx, &lease.subscriptions).await?;
    tx.commit().await?;
    // The lease is good whatever becomes of this.
    match statistics::forget(log, &mut connection).await {
        Ok(()) => connection.put_back(),
        Err(error) => tracing::debug!(error = error.chain(), "statistics cannot be removed"),
    }
    Ok(Hold::Alive(census))
}

/// Whether the relay has a row now.
async fn enrol_or_renew(
    log: &Inner,
    connection: &mut SqliteConnection,
    lease: &Lease,
    (now, held_until): (i64, i64),
) -> Result<bool> {
    let served = json(&lease.subscriptions);
    let query = if lease.first {
        sqlx::query(log.statements.enrol.clone())
            .bind(lease.relay.0.as_str())
            .bind(lease.host.as_str())
            .bind(lease.version.as_str())
            .bind(served)
            .bind(now)
            .bind(held_until)
    } else {
        sqlx::query(log.statements.renew.clone()).bind(lease.relay.0.as_str()).bind(served).bind(held_until)
    };
    let done = query.execute(connection).await.map_err(failed("hold"))?;
    Ok(done.rows_affected() == 1)
}

async fn census(log: &Inner, connection: &mut SqliteConnection, names: &[String]) -> Result<Census> {
    let mut asked: Vec<&String> = Vec::with_capacity(names.len());
    for name in names {
        if !asked.contains(&name) {
            asked.push(name);
        }
    }
    let rows = sqlx::query(log.statements.census.clone())
        .bind(json(&asked))
        .bind(log.lanes())
        .fetch_all(connection)
        .await
        .map_err(failed("take the census"))?;
    let mut census = Census::default();
    for row in &rows {
        census.alone = get(row, 9)?;
        let name: &str = get(row, 0)?;
        if census.subscriptions.last().is_none_or(|last| last.name != name) {
            census.subscriptions.push(SubscriptionCensus {
                name: name.to_owned(),
                generation: get(row, 1)?,
                paused: get(row, 2)?,
                relays: get(row, 3)?,
                lanes: Vec::with_capacity(usize::from(log.layout.lanes)),
            });
        }
        if let Some(subscription) = census.subscriptions.last_mut() {
            subscription.lanes.push(lane_census(row, name)?);
        }
    }
    Ok(census)
}

fn lane_census(row: &SqliteRow, name: &str) -> Result<LaneCensus> {
    let lane = Lane(get(row, 4)?);
    let n: Option<i64> = get(row, 5)?;
    let n = n.ok_or_else(|| {
        // Never taken for new: it would deliver everything again, or nothing.
        let message = format!("lane {lane} of subscription {name:?} has no line; the log is damaged");
        Error::new(ErrorKind::Schema, message)
    })?;
    let cursor = Cursor::at(Position(get(row, 6)?));
    let holder: Option<String> = get(row, 7)?;
    Ok(LaneCensus {
        lane,
        n,
        seen: cursor.after,
        cursor,
        holder: holder.map(RelayId),
        troubled: get(row, 8)?,
    })
}

pub(crate) async fn leave(log: &Inner, relay: &RelayId) -> Result<()> {
    let mut connection = log.hold.take().await?;
    let mut tx = connection.begin_immediate().await?;
    let gone = sqlx::query(log.statements.leave.clone()).bind(relay.0.as_str());
    gone.execute(&mut *tx).await.map_err(failed("leave"))?;
    tx.commit().await?;
    connection.put_back();
    Ok(())
}
