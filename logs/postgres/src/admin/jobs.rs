//! Jobs: starting, cancelling and telling how far they are. Relays carry them out: see `work`.

use posthaste_core::{
    DeadFilter, Error, ErrorKind, Job, JobKind, JobRequest, JobState, MAX_JOBS, Result, driver::refuse,
};
use sqlx::{PgConnection, postgres::PgRow};

use super::{act::Operator, bind_filter, check_home, count};
use crate::{
    error::{damaged, failed},
    log::Inner,
    record::json,
    row::get,
    value::Time,
};

impl Operator<'_> {
    /// Answers the number of the job.
    pub(super) async fn start(&mut self, request: &JobRequest) -> Result<u64> {
        let (concerned, last_dead_id) = foresee(self.log, self.connection, request).await?;
        self.check_room().await?;
        let selection = DeadFilter { cursor: None, limit: 0, resolved: false, ..request.matching.clone() };
        let row = self
            .log
            .query(&self.log.statements.start_job)
            .bind(request.kind.as_str())
            .bind(json(&selection))
            .bind(request.per_second.map(i64::from))
            .bind(self.by)
            .bind(self.log.now())
            .bind(i64::try_from(concerned).unwrap_or(i64::MAX))
            .bind(last_dead_id)
            .fetch_one(&mut *self.connection)
            .await
            .map_err(failed("start a job"))?;
        let job = find(self.log, self.connection, get(&row, 0)?).await?;
        self.journal_job(&job, "started", concerned).await?;
        Ok(job.job_id.unsigned_abs())
    }

    /// Refuses while too many are not over.
    async fn check_room(&mut self) -> Result<()> {
        let asked = self.log.query(&self.log.statements.count_jobs).bind(self.log.now());
        let row = asked.fetch_one(&mut *self.connection).await.map_err(failed("start a job"))?;
        if count(&row, 0)? >= MAX_JOBS {
            let message = format!("{MAX_JOBS} jobs are not over yet; wait for one, or cancel one");
            return Err(Error::new(ErrorKind::Refused, message));
        }
        Ok(())
    }

    pub(super) async fn cancel(&mut self, job_id: i64) -> Result<u64> {
        find(self.log, self.connection, job_id).await?.check_cancel()?;
        let cancelled = self.log.query(&self.log.statements.cancel_job).bind(job_id).bind(self.log.now());
        let changed = self.run(cancelled, "cancel a job").await?;
        let job = find(self.log, self.connection, job_id).await?;
        if changed == 0 {
            // A relay was faster, and it is over.
            job.check_cancel()?;
        }
        self.journal_job(&job, "cancelled", job.done).await?;
        Ok(changed)
    }

    /// Writes down what became of a job.
    pub(crate) async fn journal_job(&mut self, job: &Job, what: &str, concerned: u64) -> Result<()> {
        self.journal(job.matching.subscription.as_deref(), what, concerned, Some(job.text())).await
    }
}

/// How many dead letters a job would concern, and the number of the last one there is. One that would concern none is refused.
pub(super) async fn foresee(
    log: &Inner,
    connection: &mut PgConnection,
    request: &JobRequest,
) -> Result<(u64, i64)> {
    let row = bind_filter(log.query(&log.statements.count_dead), &request.matching)
        .fetch_one(connection)
        .await
        .map_err(failed("count dead letters"))?;
    let concerned = count(&row, 0)?;
    if concerned == 0 {
        return Err(Error::new(ErrorKind::NotFound, "no unresolved dead letter fits"));
    }
    if request.kind == JobKind::Replay {
        check_home(get(&row, 1)?)?;
    }
    Ok((concerned, get(&row, 2)?))
}

/// One job, for whoever looks.
pub(super) async fn job(log: &Inner, job_id: i64) -> Result<Job> {
    let mut connection = log.desks.reading().await?;
    let found = find(log, &mut connection, job_id).await;
    connection.put_back().await?;
    found
}

/// The latest, for whoever looks.
pub(super) async fn jobs(log: &Inner) -> Result<Vec<Job>> {
    let mut connection = log.desks.reading().await?;
    let found = latest(log, &mut connection).await?;
    connection.put_back().await?;
    Ok(found)
}

pub(super) async fn find(log: &Inner, connection: &mut PgConnection, job_id: i64) -> Result<Job> {
    let found = log.query(&log.statements.find_job).bind(job_id).fetch_optional(connection).await;
    job_of(&found.map_err(failed("find a job"))?.ok_or_else(|| refuse::no_job(job_id))?)
}

/// Those that are not over, and the last ones that are, newest first.
pub(super) async fn latest(log: &Inner, connection: &mut PgConnection) -> Result<Vec<Job>> {
    let rows = log.query(&log.statements.latest_jobs).fetch_all(connection).await;
    let rows = rows.map_err(failed("list jobs"))?;
    let mut jobs: Vec<Job> = rows.iter().map(job_of).collect::<Result<_>>()?;
    jobs.sort_by_key(|job| -job.job_id);
    Ok(jobs)
}

/// A row whose first columns are those of a job.
pub(crate) fn job_of(row: &PgRow) -> Result<Job> {
    let unknown = || damaged("read a job: it has words that no job has");
    let time = |column| get::<Option<Time>>(row, column).map(|time| time.map(|time| time.0));
    Ok(Job {
        job_id: get(row, 0)?,
        kind: JobKind::of(get(row, 1)?).ok_or_else(unknown)?,
        matching: serde_json::from_str(get(row, 2)?).map_err(|error| unknown().with_source(error))?,
        per_second: get::<Option<i64>>(row, 3)?.and_then(|rate| u32::try_from(rate).ok()),
        requested_by: get(row, 4)?,
        requested_at: get::<Time>(row, 5)?.0,
        state: JobState::of(get(row, 6)?).ok_or_else(unknown)?,
        concerned: count(row, 7)?,
        done: count(row, 8)?,
        error: get(row, 9)?,
        started_at: time(10)?,
        finished_at: time(11)?,
    })
}
