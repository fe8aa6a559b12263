//! Carrying out the jobs that operators started: a batch at a time, each one transaction with the job's progress.

use std::time::Duration;

use posthaste_core::{ErrorKind, Job, JobKind, JobState, MAX_BATCH, Result, Worked};
use sqlx::PgConnection;

use crate::{
    admin::{Operator, bind_filter, check_home, job_of},
    error::failed,
    log::Inner,
    row::get,
    statements::once,
};

pub(crate) async fn work(log: &Inner) -> Result<Worked> {
    let mut connection = log.upkeep.take().await?;
    // Looked at first without a lock: most of the time there is no job.
    let next = next(log, &mut connection).await?;
    if next.is_none_or(|next| !next.is_zero()) {
        connection.put_back().await?;
        return Ok(Worked { letters: 0, next });
    }
    connection.begin().await?;
    // Jobs are few, and what was planned for an empty table is wrong for a hundred thousand dead letters.
    sqlx::raw_sql("discard plans").execute(&mut *connection).await.map_err(failed("begin"))?;
    let letters = match Batch::due(log, &mut connection).await? {
        Some(batch) => batch.carry_out(log, &mut connection).await?,
        None => 0,
    };
    let next = self::next(log, &mut connection).await?;
    connection.put_back().await?;
    Ok(Worked { letters, next })
}

/// In how long the next job is due, if there is any.
async fn next(log: &Inner, connection: &mut PgConnection) -> Result<Option<Duration>> {
    let found = log.query(&log.statements.count_jobs).bind(log.now()).fetch_one(connection).await;
    let micros: Option<i64> = get(&found.map_err(failed("look for jobs"))?, 1)?;
    Ok(micros.map(|micros| Duration::from_micros(u64::try_from(micros).unwrap_or_default())))
}

/// A part of a job, whose row is locked: other relays pass it over.
struct Batch {
    job: Job,
    /// Unresolved dead letters, in the order of the log.
    ids: Vec<i64>,
    /// The last of them.
    cursor: (i64, i64),
    /// Whether there is nothing behind it.
    is_last: bool,
    /// A subscription of theirs that is not there any more.
    homeless: Option<String>,
}

impl Batch {
    /// The next part of the job that has waited longest, if one is due.
    async fn due(log: &Inner, connection: &mut PgConnection) -> Result<Option<Self>> {
        let found = once(&log.statements.due_job).bind(log.now()).fetch_optional(&mut *connection).await;
        let Some(found) = found.map_err(failed("find a job"))? else { return Ok(None) };
        let job = job_of(&found)?;
        let (last_dead_id, cursor): (i64, (i64, i64)) =
            (get(&found, 12)?, (get(&found, 13)?, get(&found, 14)?));
        let size = job.per_second.unwrap_or(MAX_BATCH).min(MAX_BATCH);
        let rows = bind_filter(once(&log.statements.job_batch), &job.matching)
            .bind(cursor.0)
            .bind(cursor.1)
            .bind(last_dead_id)
            .bind(i64::from(size))
            .fetch_all(&mut *connection)
            .await
            .map_err(failed("select dead letters"))?;
        let is_last = rows.len() < size as usize;
        let mut batch = Self { job, ids: Vec::new(), cursor, is_last, homeless: None };
        for row in &rows {
            batch.ids.push(get(row, 0)?);
            batch.cursor = (get(row, 1)?, get(row, 0)?);
            batch.homeless = batch.homeless.or(get(row, 2)?);
        }
        Ok(Some(batch))
    }

    async fn carry_out(mut self, log: &Inner, connection: &mut PgConnection) -> Result<u64> {
        let requester = self.job.requested_by.clone();
        let mut operator = Operator { log, connection, by: &requester };
        if self.job.kind == JobKind::Replay
            && let Err(error) = check_home(self.homeless.take())
        {
            self.end(&mut operator, JobState::Failed, Some(error.to_string())).await?;
            return Ok(0);
        }
        // What the database refuses of this batch it will refuse of it the next time: the job ends, and says why.
        match operator.attempt(self.job.kind, &self.ids).await {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::Unavailable => return Err(error),
            Err(error) => {
                self.end(&mut operator, JobState::Failed, Some(error.chain())).await?;
                return Ok(0);
            }
        }
        let state = if self.is_last { JobState::Done } else { JobState::Running };
        self.job.done += self.ids.len() as u64;
        self.end(&mut operator, state, None).await?;
        Ok(self.ids.len() as u64)
    }

    /// Writes down how far the job is now.
    async fn end(
        &mut self,
        operator: &mut Operator<'_>,
        state: JobState,
        error: Option<String>,
    ) -> Result<()> {
        let done = if state == JobState::Failed { 0 } else { self.ids.len() as u64 };
        let pause = self.job.per_second.map(|rate| Duration::from_secs(done) / rate).unwrap_or_default();
        let advanced = once(&operator.log.statements.advance_job)
            .bind(self.job.job_id)
            .bind(operator.log.now())
            .bind(state.as_str())
            .bind(i64::try_from(done).unwrap_or(i64::MAX))
            .bind(self.cursor.0)
            .bind(self.cursor.1)
            .bind(i64::try_from(pause.as_micros()).unwrap_or(i64::MAX))
            .bind(error.clone());
        operator.run(advanced, "carry out a job").await?;
        self.job.error = error;
        if state.is_over() {
            operator.journal_job(&self.job, "finished", self.job.done).await?;
        }
        Ok(())
    }
}
