//! The operator's side: what CLI, API and dashboard ask and do.

mod act;
mod audit;
mod dead;
mod desk;
mod diagnose;
mod foresee;
mod jobs;
mod lanes;
mod list;
mod reset;
mod show;
mod status;

use async_trait::async_trait;
use posthaste_core::{
    Admin, AuditEntry, AuditFilter, DeadFilter, DeadGroup, DeadLetter, Diagnose, EventFilter, EventId,
    EventSummary, Finding, Foreseen, Inspect, Job, Jobs, LaneStatus, MAX_COUNTED, OperatorAct, Paged, Result,
    Status, Timeline, driver::refuse, oversized,
};
use sqlx::{PgConnection, postgres::PgRow};

pub(crate) use self::{
    act::{Operator, check_home},
    desk::Desks,
    jobs::job_of,
};
use crate::{
    PostgresLog,
    error::failed,
    log::Inner,
    row::{TWO_PAYLOADS, get},
    statements::Bound,
    value::Time,
};

#[async_trait]
impl Jobs for PostgresLog {
    async fn job(&self, job_id: i64) -> Result<Job> {
        jobs::job(self.inner(), job_id).await
    }

    async fn jobs(&self) -> Result<Vec<Job>> {
        jobs::jobs(self.inner()).await
    }
}

#[async_trait]
impl Inspect for PostgresLog {
    async fn status(&self) -> Result<Status> {
        status::status(self.inner()).await
    }

    async fn lanes(&self, subscription: &str) -> Result<Vec<LaneStatus>> {
        lanes::lanes(self.inner(), subscription).await
    }

    async fn list(&self, filter: &EventFilter) -> Result<Paged<EventSummary>> {
        list::list(self.inner(), filter).await
    }

    async fn show(&self, id: EventId) -> Result<Timeline> {
        show::show(self.inner(), id).await
    }

    async fn dead(&self, filter: &DeadFilter) -> Result<Paged<DeadLetter>> {
        dead::dead(self.inner(), filter).await
    }

    async fn dead_groups(&self, filter: &DeadFilter) -> Result<Vec<DeadGroup>> {
        dead::groups(self.inner(), filter).await
    }

    async fn audit(&self, filter: &AuditFilter) -> Result<Paged<AuditEntry>> {
        audit::audit(self.inner(), filter).await
    }
}

#[async_trait]
impl Diagnose for PostgresLog {
    async fn diagnose(&self) -> Result<Vec<Finding>> {
        diagnose::diagnose(self.inner()).await
    }
}

#[async_trait]
impl Admin for PostgresLog {
    async fn act(&self, act: &OperatorAct, by: &str) -> Result<u64> {
        act::act(self.inner(), act, by).await
    }

    async fn foresee(&self, act: &OperatorAct) -> Result<Foreseen> {
        foresee::foresee(self.inner(), act).await
    }
}

/// One row more than the page has, to see whether there is another page.
fn rows_for(size: usize) -> i64 {
    i64::try_from(size).unwrap_or(i64::MAX).saturating_add(1)
}

/// How many rows are counted one by one.
fn counted() -> i64 {
    i64::try_from(MAX_COUNTED).unwrap_or(i64::MAX)
}

/// Binds which dead letters are meant, as `parts/dead_fits.sql` wants it.
pub(crate) fn bind_filter<'q>(query: Bound<'q>, filter: &DeadFilter) -> Bound<'q> {
    let error = filter.error.as_ref();
    query
        .bind(filter.dead_id)
        .bind(filter.subscription.clone())
        .bind(filter.reason.map(posthaste_core::DeadReason::as_str))
        .bind(filter.event_type.clone())
        .bind(filter.topic.clone())
        .bind(filter.key.clone())
        .bind(error.and_then(|error| error.line().map(str::to_owned)))
        .bind(error.and_then(|error| error.beginning().map(str::to_owned)))
        .bind(filter.moved_after.map(Time))
        .bind(filter.moved_before.map(Time))
}

/// Fails, and says which names there are, if the subscription is unknown; otherwise whether it is paused.
async fn is_paused(log: &Inner, connection: &mut PgConnection, name: &str) -> Result<bool> {
    let found = log
        .query(&log.statements.is_paused)
        .bind(name)
        .fetch_optional(&mut *connection)
        .await
        .map_err(failed("find the subscription"))?;
    if let Some(row) = found {
        return get(&row, 0);
    }
    let rows = log
        .query(&log.statements.names)
        .fetch_all(connection)
        .await
        .map_err(failed("list the subscriptions"))?;
    let names: Vec<String> = rows.iter().map(|row| get(row, 0)).collect::<Result<_>>()?;
    Err(refuse::no_subscription(name, &names))
}

/// A payload in three columns as text; bytes that are not text as hexadecimal digits, and what was not loaded as what is wrong with it.
fn payload_text(log: &Inner, row: &PgRow, column: usize) -> Result<String> {
    if let Some(text) = get::<Option<String>>(row, column)? {
        return Ok(text);
    }
    let Some(bytes) = get::<Option<Vec<u8>>>(row, column + 1)? else {
        let size = usize::try_from(get::<i32>(row, column + 2)?).unwrap_or_default();
        let limit = log.options.payload_limit;
        return Ok(if size > limit {
            format!("({})", oversized(size, limit))
        } else {
            format!("({TWO_PAYLOADS})")
        });
    };
    let digits = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(String::from_utf8(bytes).unwrap_or_else(|error| digits(error.as_bytes())))
}

/// A number that cannot be below zero.
fn count(row: &PgRow, column: usize) -> Result<u64> {
    Ok(u64::try_from(get::<i64>(row, column)?).unwrap_or_default())
}

/// How many deliveries failed.
fn attempts(row: &PgRow, column: usize) -> Result<u32> {
    Ok(u32::try_from(get::<i32>(row, column)?).unwrap_or_default())
}
