//! The operator's side: what CLI, API and dashboard ask and do.

mod act;
mod audit;
mod dead;
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
    EventSummary, Finding, Foreseen, Inspect, Job, Jobs, LaneStatus, OperatorAct, Paged, Result, Status,
    Timeline, driver::refuse, oversized,
};
use sqlx::SqliteConnection;

pub(crate) use self::{
    act::{Operator, check_home},
    jobs::job_of,
};
use crate::{
    SqliteLog,
    bind::Bound,
    error::failed,
    log::Inner,
    row::{Stored, get},
};

#[async_trait]
impl Jobs for SqliteLog {
    async fn job(&self, job_id: i64) -> Result<Job> {
        jobs::job(self.inner(), job_id).await
    }

    async fn jobs(&self) -> Result<Vec<Job>> {
        jobs::jobs(self.inner()).await
    }
}

#[async_trait]
impl Inspect for SqliteLog {
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
impl Diagnose for SqliteLog {
    async fn diagnose(&self) -> Result<Vec<Finding>> {
        diagnose::diagnose(self.inner()).await
    }
}

#[async_trait]
impl Admin for SqliteLog {
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
        .bind(filter.moved_after.map(|time| time.0))
        .bind(filter.moved_before.map(|time| time.0))
}

/// Fails, and says which names there are, if the subscription is unknown; otherwise whether it is paused.
async fn is_paused(log: &Inner, connection: &mut SqliteConnection, name: &str) -> Result<bool> {
    let found = sqlx::query(log.statements.is_paused.clone())
        .bind(name)
        .fetch_optional(&mut *connection)
        .await
        .map_err(failed("find the subscription"))?;
    if let Some(row) = found {
        return get(&row, 0);
    }
    let rows = sqlx::query(log.statements.names.clone())
        .fetch_all(connection)
        .await
        .map_err(failed("list the subscriptions"))?;
    let names: Vec<String> = rows.iter().map(|row| get(row, 0)).collect::<Result<_>>()?;
    Err(refuse::no_subscription(name, &names))
}

/// A payload as text; bytes that are not text as hexadecimal digits, and what is over the limit as what is wrong with it.
fn payload_text(log: &Inner, stored: Stored) -> String {
    match stored {
        Stored::Bytes(bytes) => String::from_utf8(bytes)
            .unwrap_or_else(|error| error.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect()),
        Stored::TooLarge(size) => format!("({})", oversized(size, log.options.payload_limit)),
    }
}
