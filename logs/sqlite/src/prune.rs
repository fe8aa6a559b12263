//! Pruning: what is old, and settled by everybody, goes; a bounded step at a time.

use posthaste_core::{Pruned, Result, Retention};

use crate::{bind::Bound, error::failed, log::Inner};

pub(crate) async fn prune(log: &Inner, retention: &Retention) -> Result<Pruned> {
    let mut connection = log.prune.take().await?;
    let now = log.now();
    let step = i64::from(retention.step);
    let statements = &log.statements;
    let events = now.before(retention.events).0;
    let lines = now.before(retention.lines).0;
    let journal = now.before(retention.journal).0;
    let events = sqlx::query(statements.prune_events.clone()).bind(events).bind(step).bind(log.lanes());
    let lines = sqlx::query(statements.prune_lines.clone()).bind(lines).bind(step).bind(log.lanes());
    let journal = sqlx::query(statements.prune_journal.clone()).bind(journal).bind(step);
    let dead = now.before(retention.dead).0;
    let dead = sqlx::query(statements.prune_dead.clone()).bind(dead).bind(step);
    let jobs = sqlx::query(statements.prune_jobs.clone()).bind(now.before(retention.journal).0).bind(step);
    // Each statement is a transaction by itself: the kinds do not depend on each other, and
    // other writers can come between.
    let mut gone = [0; 5];
    for (query, gone) in [events, lines, journal, dead, jobs].into_iter().zip(&mut gone) {
        *gone = delete(query, &mut connection).await?;
    }
    connection.put_back();
    let [events, lines, journal, dead, jobs] = gone;
    Ok(Pruned { events, lines, journal: journal + jobs, dead })
}

async fn delete(query: Bound<'_>, connection: &mut sqlx::SqliteConnection) -> Result<u64> {
    let done = query.execute(connection).await.map_err(failed("prune"))?;
    Ok(done.rows_affected())
}
