//! What an act would concern, without doing it: in a transaction that cannot write.

use posthaste_core::{
    Error, ErrorKind, Foreseen, JobKind, OperatorAct, ResetTo, Result, Sample, driver::refuse,
};
use sqlx::{PgConnection, SqlStr};

use super::{act::check_home, count, counted, dead, is_paused, jobs, list::extent, reset::reset_after};
use crate::{error::failed, log::Inner, row::get};

pub(super) async fn foresee(log: &Inner, act: &OperatorAct) -> Result<Foreseen> {
    act.validate()?;
    let mut connection = log.desks.reading().await?;
    let tx = &mut connection;
    let concerned = match act {
        OperatorAct::Replay(ids) => letters(log, tx, JobKind::Replay, ids).await?,
        OperatorAct::Discard(ids) => letters(log, tx, JobKind::Discard, ids).await?,
        OperatorAct::Edit { dead_id, .. } => edit(log, tx, *dead_id).await?,
        OperatorAct::Start(request) => jobs::foresee(log, tx, request).await?.0,
        OperatorAct::Cancel(job_id) => {
            let job = jobs::find(log, tx, *job_id).await?;
            job.check_cancel()?;
            job.concerned.saturating_sub(job.done)
        }
        OperatorAct::Pause(name) => u64::from(!is_paused(log, tx, name).await?),
        OperatorAct::Resume(name) => u64::from(is_paused(log, tx, name).await?),
        OperatorAct::Drop(name) => is_paused(log, tx, name).await.map(|_| 1)?,
        OperatorAct::Tune(_) => 1,
        OperatorAct::Reset { .. } => u64::from(log.layout.lanes),
    };
    let mut foreseen = Foreseen { concerned, ..Foreseen::default() };
    if let OperatorAct::Reset { subscription, to } = act {
        reset(log, &mut connection, (subscription, *to), &mut foreseen).await?;
    }
    connection.put_back().await?;
    Ok(foreseen)
}

async fn letters(log: &Inner, connection: &mut PgConnection, kind: JobKind, ids: &[i64]) -> Result<u64> {
    let asked = log.query(&log.statements.foresee_dead).bind(ids).fetch_one(connection).await;
    let row = asked.map_err(failed("foresee"))?;
    if kind == JobKind::Replay {
        check_home(get(&row, 1)?)?;
    }
    count(&row, 0)
}

/// One, if it can be edited.
async fn edit(log: &Inner, connection: &mut PgConnection, dead_id: i64) -> Result<u64> {
    match dead::resolution(log, connection, dead_id).await? {
        None => Err(refuse::no_dead_letter(dead_id)),
        Some(Some(resolution)) => {
            let message = format!("dead letter {dead_id} was {resolution} already");
            Err(Error::new(ErrorKind::Refused, message))
        }
        Some(None) => letters(log, connection, JobKind::Replay, &[dead_id]).await,
    }
}

/// Which events a reset would let come again, and which it would pass over.
async fn reset(
    log: &Inner,
    connection: &mut PgConnection,
    (name, to): (&str, ResetTo),
    foreseen: &mut Foreseen,
) -> Result<()> {
    is_paused(log, connection, name).await?;
    let after = reset_after(log, connection, to).await?;
    let again = sample(log, connection, &log.statements.foresee_again, (name, after)).await?;
    let skipped = sample(log, connection, &log.statements.foresee_skipped, (name, after)).await?;
    let last = extent(log, connection).await?.last;
    foreseen.again = again.extrapolate(again.rows, last);
    foreseen.skipped = skipped.extrapolate(skipped.rows, last.min(after));
    foreseen.estimated = again.is_cut() || skipped.is_cut();
    Ok(())
}

async fn sample(
    log: &Inner,
    connection: &mut PgConnection,
    sql: &SqlStr,
    (name, after): (&str, i64),
) -> Result<Sample> {
    let asked = log.query(sql).bind(name).bind(after).bind(counted() + 1);
    let row = asked.fetch_one(connection).await.map_err(failed("foresee"))?;
    Ok(Sample { rows: count(&row, 0)?, first: get(&row, 1)?, last: get(&row, 2)? })
}
