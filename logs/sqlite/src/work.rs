//! Carrying out the jobs that operators started: a batch at a time, each one transaction with the job's progress.

use std::time::Duration;

use posthaste_core::{ErrorKind, Job, JobKind, JobState, MAX_BATCH, Result, Timestamp, Worked};
use sqlx::SqliteConnection;

use crate::{
    admin::{Operator, bind_filter, check_home, job_of},
    bind::json,
    error::failed,
    log::Inner,
    row::get,
};

pub(crate) async fn work(log: &Inner) -> Result<Worked> {
    let mut connection = log.prune.take().await?;
    // Looked at first without a lock: most of the time there is no job.
    let next = next(log, &mut connection).await?;
    if next.is_none_or(|next| next > log.now()) {
        connection.put_back();
        return Ok(Worked { letters: 0, next: next.map(|next| next.since(log.now())) });
    }
    // The write lock: whoever else wants to work waits, and finds the job further on.
    let mut tx = connection.begin_immediate().await?;
    let letters = match Batch::due(log, &mut tx).await? {
        Some(batch) => batch.carry_out(log, &mut tx).await?,
        None => 0,
    };
    tx.commit().await?;
    let next = self::next(log, &mut connection).await?;
    connection.put_back();
    Ok(Worked { letters, next: next.map(|next| next.since(log.now())) })
}

/// When the next job is due, if there is any.
async fn next(log: &Inner, connection: &mut SqliteConnection) -> Result<Option<Timestamp>> {
    let row = sqlx::query(log.statements.count_jobs.clone())
        .fetch_one(connection)
        .await
        .map_err(failed("look for jobs"))?;
    Ok(get::<Option<i64>>(&row, 1)?.map(Timestamp))
}

/// A part of a job.
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
    async fn due(log: &Inner, connection: &mut SqliteConnection) -> Result<Option<Self>> {
        let found = sqlx::query(log.statements.due_job.clone())
            .bind(log.now().0)
            .fetch_optional(&mut *connection)
            .await
            .map_err(failed("find a job"))?;
        let Some(found) = found else { return Ok(None) };
        let job = job_of(&found)?;
        let (last_dead_id, cursor): (i64, _) = (get(&found, 12)?, (get(&found, 13)?, get(&found, 14)?));
        let size = job.per_second.unwrap_or(MAX_BATCH).min(MAX_BATCH);
        let rows = bind_filter(sqlx::query(log.statements.job_batch.clone()), &job.matching)
            .bind(cursor.0)
            .bind(cursor.1)
            .bind(last_dead_id)
            .bind(size)
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

    async fn carry_out(mut self, log: &Inner, connection: &mut SqliteConnection) -> Result<u64> {
        let requester = self.job.requested_by.clone();
        let mut operator = Operator { log, connection, now: log.now(), by: &requester };
        if self.job.kind == JobKind::Replay
            && let Err(error) = check_home(self.homeless.take())
        {
            self.end(&mut operator, JobState::Failed, Some(error.to_string())).await?;
            return Ok(0);
        }
        // What the database refuses of this batch it will refuse of it the next time: the job ends, and says why.
        match operator.attempt(self.job.kind, &json(&self.ids)).await {
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
        let advanced = sqlx::query(operator.log.statements.advance_job.clone())
            .bind(self.job.job_id)
            .bind(operator.now.0)
            .bind(state.as_str())
            .bind(i64::try_from(done).unwrap_or(i64::MAX))
            .bind(self.cursor.0)
            .bind(self.cursor.1)
            .bind((operator.now + pause).0)
            .bind(error.clone());
        operator.run(advanced, "carry out a job").await?;
        self.job.error = error;
        if state.is_over() {
            operator.journal_job(&self.job, "finished", self.job.done).await?;
        }
        Ok(())
    }
}
