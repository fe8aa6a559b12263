//! What an act would concern, without doing it: in a transaction that is never written.

use posthaste_core::{Foreseen, JobKind, MAX_COUNTED, OperatorAct, ResetTo, Result, Sample};
use sqlx::{SqlStr, SqliteConnection};

use super::{
    act::{Operator, check_home},
    is_paused, jobs,
    reset::reset_after,
};
use crate::{error::failed, log::Inner, row::get, subscribe::last_position};

pub(super) async fn foresee(log: &Inner, act: &OperatorAct) -> Result<Foreseen> {
    act.validate()?;
    let mut connection = log.admin.take().await?;
    let mut tx = connection.begin_read().await?;
    let mut operator = Operator { log, connection: &mut tx, now: log.now(), by: "" };
    let concerned = match act {
        OperatorAct::Replay(ids) => letters(&mut operator, JobKind::Replay, ids).await?,
        OperatorAct::Discard(ids) => letters(&mut operator, JobKind::Discard, ids).await?,
        OperatorAct::Edit { dead_id, .. } => {
            operator.unresolved(*dead_id).await?;
            letters(&mut operator, JobKind::Replay, &[*dead_id]).await?
        }
        OperatorAct::Start(request) => jobs::count(log, &mut tx, request).await?.0,
        OperatorAct::Cancel(job_id) => {
            let job = jobs::find(log, &mut tx, *job_id).await?;
            job.check_cancel()?;
            job.concerned.saturating_sub(job.done)
        }
        OperatorAct::Pause(name) => u64::from(!is_paused(log, &mut tx, name).await?),
        OperatorAct::Resume(name) => u64::from(is_paused(log, &mut tx, name).await?),
        OperatorAct::Drop(name) => is_paused(log, &mut tx, name).await.map(|_| 1)?,
        OperatorAct::Tune(_) => 1,
        OperatorAct::Reset { .. } => u64::from(log.layout.lanes),
    };
    let mut foreseen = Foreseen { concerned, ..Foreseen::default() };
    if let OperatorAct::Reset { subscription, to } = act {
        reset(log, &mut tx, (subscription, *to), &mut foreseen).await?;
    }
    tx.rollback().await.map_err(failed("foresee"))?;
    connection.put_back();
    Ok(foreseen)
}

async fn letters(operator: &mut Operator<'_>, kind: JobKind, ids: &[i64]) -> Result<u64> {
    let selected = operator.select(ids).await?;
    if kind == JobKind::Replay {
        check_home(selected.homeless.clone())?;
    }
    Ok(selected.count())
}

/// Which events a reset would let come again, and which it would pass over.
async fn reset(
    log: &Inner,
    connection: &mut SqliteConnection,
    (name, to): (&str, ResetTo),
    foreseen: &mut Foreseen,
) -> Result<()> {
    is_paused(log, connection, name).await?;
    let after = reset_after(log, connection, to).await?;
    let again = sample(log, connection, &log.statements.foresee_again, (name, after)).await?;
    let skipped = sample(log, connection, &log.statements.foresee_skipped, (name, after)).await?;
    let last = last_position(log, connection).await?;
    foreseen.again = again.extrapolate(again.rows, last);
    foreseen.skipped = skipped.extrapolate(skipped.rows, last.min(after));
    foreseen.estimated = again.is_cut() || skipped.is_cut();
    Ok(())
}

async fn sample(
    log: &Inner,
    connection: &mut SqliteConnection,
    sql: &SqlStr,
    (name, after): (&str, i64),
) -> Result<Sample> {
    let row = sqlx::query(sql.clone())
        .bind(name)
        .bind(after)
        .bind(log.lanes())
        .bind(i64::try_from(MAX_COUNTED).unwrap_or(i64::MAX) + 1)
        .fetch_one(connection)
        .await
        .map_err(failed("foresee"))?;
    Ok(Sample { rows: get(&row, 0)?, first: get(&row, 1)?, last: get(&row, 2)? })
}
