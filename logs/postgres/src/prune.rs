//! Removing what is old and settled, a short step at a time.

use std::sync::atomic::Ordering;

use posthaste_core::{Pruned, Result, Retention};
use sqlx::PgConnection;

use crate::{error::failed, log::Inner, row::get, statements::Bound, subscribe::lock, value::Time};

/// How many slices of the log are looked at in one step, if nothing of them may go.
const SLICES: usize = 16;

pub(crate) async fn prune(log: &Inner, retention: &Retention) -> Result<Pruned> {
    let now = now(log).await?;
    let step = i64::from(retention.step);
    let before = |span| Time(now.0.before(span));
    let mut pruned =
        Pruned { events: prune_events(log, before(retention.events), step).await?, ..Pruned::default() };
    let mut connection = log.upkeep.take().await?;
    connection.begin().await?;
    lock(log, &mut connection).await?;
    let statements = &log.statements;
    let old = |sql, span| log.query(sql).bind(before(span)).bind(step);
    let lines = old(&statements.prune_lines, retention.lines).bind(log.lanes());
    pruned.lines = remove(&mut connection, lines).await?;
    if pruned.lines < u64::from(retention.step) {
        let snapshots = old(&statements.prune_snapshots, retention.lines).bind(log.lanes());
        remove(&mut connection, snapshots).await?;
    }
    pruned.journal = remove(&mut connection, old(&statements.prune_journal, retention.journal)).await?;
    pruned.journal += remove(&mut connection, old(&statements.prune_jobs, retention.journal)).await?;
    pruned.dead = remove(&mut connection, old(&statements.prune_dead, retention.dead)).await?;
    connection.put_back().await?;
    Ok(pruned)
}

/// What time it is, by the clock that made the rows.
async fn now(log: &Inner) -> Result<Time> {
    if let Some(now) = log.now() {
        return Ok(now);
    }
    let mut connection = log.upkeep.take().await?;
    let row = log.query(&log.statements.now).fetch_one(&mut *connection).await;
    let now = get(&row.map_err(failed("ask for the time"))?, 0)?;
    connection.put_back().await?;
    Ok(now)
}

/// Goes through the log slice by slice, on from where the last step ended, until enough has gone or everything old was looked at. A
/// lane that is stuck keeps its own rows and nobody else's.
async fn prune_events(log: &Inner, before: Time, step: i64) -> Result<u64> {
    let mut removed = 0;
    for _ in 0..SLICES {
        let mut connection = log.upkeep.take().await?;
        connection.begin().await?;
        lock(log, &mut connection).await?;
        let behind = log.pruned_to.load(Ordering::Relaxed);
        let row = log
            .query(&log.statements.prune_events)
            .bind(before)
            .bind(step)
            .bind(log.lanes())
            .bind(behind)
            .fetch_one(&mut *connection)
            .await
            .map_err(failed("prune"))?;
        connection.put_back().await?;
        let (gone, looked_at): (i64, i64) = (get(&row, 0)?, get(&row, 1)?);
        removed += u64::try_from(gone).unwrap_or_default();
        let ended = looked_at < step;
        log.pruned_to.store(if ended { 0 } else { get(&row, 2)? }, Ordering::Relaxed);
        if ended || gone >= step / 2 {
            break;
        }
    }
    Ok(removed)
}

async fn remove(connection: &mut PgConnection, old: Bound<'_>) -> Result<u64> {
    Ok(old.execute(connection).await.map_err(failed("prune"))?.rows_affected())
}
