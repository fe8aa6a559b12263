//! Statistics about the tables, which the log does better without.
//!
//! An application that runs `analyze` or `pragma optimize` while the tables are small makes SQLite believe that they stay so, and read
//! them from end to end: for every read of a relay the whole log. The statements here are written for tables of any size, so what was
//! counted about them is removed. Only then does a new connection plan as if nobody had counted.

use posthaste_core::Result;

use crate::{error::failed, log::Inner, row::get, slot::Taken};

/// Removes what somebody has counted, and lets every connection of the log be opened anew if there was something.
pub(crate) async fn forget(log: &Inner, connection: &mut Taken<'_>) -> Result<()> {
    let kept_in = tables(log, connection).await?;
    if kept_in.is_empty() || !has_statistics(log, connection).await? {
        return Ok(());
    }
    let mut tx = connection.begin_immediate().await?;
    for table in kept_in {
        let sql = match table.as_str() {
            "sqlite_stat1" => &log.statements.forget_statistics,
            _ => &log.statements.forget_samples,
        };
        let forgotten = sqlx::query(sql.clone());
        forgotten.execute(&mut *tx).await.map_err(failed("forget statistics"))?;
    }
    tx.commit().await?;
    tracing::info!(
        prefix = log.options.prefix,
        "somebody ran `analyze`; what it counted about the outbox was removed, which is faster without"
    );
    log.reopen();
    Ok(())
}

/// The tables in which statistics are kept, of whatever they are.
async fn tables(log: &Inner, connection: &mut Taken<'_>) -> Result<Vec<String>> {
    let rows = sqlx::query(log.statements.find_statistics.clone())
        .fetch_all(&mut **connection)
        .await
        .map_err(failed("find statistics"))?;
    rows.iter().map(|row| get(row, 0)).collect()
}

async fn has_statistics(log: &Inner, connection: &mut Taken<'_>) -> Result<bool> {
    let row = sqlx::query(log.statements.has_statistics.clone())
        .fetch_one(&mut **connection)
        .await
        .map_err(failed("find statistics"))?;
    get(&row, 0)
}
