//! Jobs: what the relays do to many dead letters, a batch at a time.

use axum::{Extension, Json, extract::State};
use posthaste::{DeadFilter, ErrorText, Job, OperatorAct};
use serde::Serialize;
use utoipa::ToSchema;

use super::{
    Answer,
    subscriptions::{Done, act},
};
use crate::{
    app::App,
    guard::Who,
    input::{Body, Path, Query},
    time,
};

/// A job, as it stands.
#[derive(Serialize, ToSchema)]
#[schema(as = Job)]
pub(crate) struct JobView {
    /// Its number.
    #[schema(example = 3)]
    job_id: i64,
    /// What is done: `replay` or `discard`.
    #[schema(example = "replay")]
    kind: &'static str,
    /// To which dead letters.
    filter: JobFilterView,
    /// How many a second at most.
    per_second: Option<u32>,
    /// Who wants it.
    #[schema(example = "ada")]
    requested_by: String,
    /// Since when.
    #[schema(format = DateTime)]
    requested_at: String,
    /// How it stands: `waiting`, `running`, `done`, `cancelled` or `failed`.
    #[schema(example = "running")]
    state: &'static str,
    /// How many dead letters fitted when it was started.
    concerned: u64,
    /// How many are done. Fewer than `concerned` at the end, if somebody else resolved some meanwhile.
    done: u64,
    /// Why it failed.
    error: Option<String>,
    /// When a relay began.
    #[schema(format = DateTime)]
    started_at: Option<String>,
    /// When it was over.
    #[schema(format = DateTime)]
    finished_at: Option<String>,
}

/// Which dead letters a job is about.
#[derive(Serialize, ToSchema)]
#[schema(as = JobFilter)]
pub(crate) struct JobFilterView {
    /// Only of this subscription.
    subscription: Option<String>,
    /// Only for this reason.
    reason: Option<&'static str>,
    /// Only of this event type.
    event_type: Option<String>,
    /// Only of this topic.
    topic: Option<String>,
    /// Only of this key.
    key: Option<String>,
    /// Only with this first line of the error.
    error: Option<String>,
    /// Only with a first line of the error that begins so.
    error_prefix: Option<String>,
    /// Only those that died at this time or later.
    #[schema(format = DateTime)]
    moved_after: Option<String>,
    /// Only those that died before this time.
    #[schema(format = DateTime)]
    moved_before: Option<String>,
}

impl JobView {
    fn of(job: Job) -> Self {
        Self {
            job_id: job.job_id,
            kind: job.kind.as_str(),
            filter: JobFilterView::of(job.matching),
            per_second: job.per_second,
            requested_by: job.requested_by,
            requested_at: time::text(job.requested_at),
            state: job.state.as_str(),
            concerned: job.concerned,
            done: job.done,
            error: job.error,
            started_at: job.started_at.map(time::text),
            finished_at: job.finished_at.map(time::text),
        }
    }
}

impl JobFilterView {
    fn of(filter: DeadFilter) -> Self {
        let part = |of: fn(&ErrorText) -> Option<&str>| filter.error.as_ref().and_then(of).map(str::to_owned);
        Self {
            error: part(ErrorText::line),
            error_prefix: part(ErrorText::beginning),
            subscription: filter.subscription,
            reason: filter.reason.map(posthaste::DeadReason::as_str),
            event_type: filter.event_type,
            topic: filter.topic,
            key: filter.key,
            moved_after: filter.moved_after.map(time::text),
            moved_before: filter.moved_before.map(time::text),
        }
    }
}

/// Jobs.
#[derive(Serialize, ToSchema)]
pub(crate) struct Jobs {
    /// Those that are not over, and the last ones that are: at most 50, the newest first.
    items: Vec<JobView>,
}

/// The jobs that are not over, and the last ones that are.
#[utoipa::path(get, path = "/jobs", tag = "jobs", operation_id = "list_jobs", responses((status = 200, body = Jobs)))]
pub(crate) async fn list(State(app): State<App>, Query(query): Query) -> Answer<Jobs> {
    query.end()?;
    let jobs = app.admin()?.jobs().await?;
    Ok(Json(Jobs { items: jobs.into_iter().map(JobView::of).collect() }))
}

/// One job, as it stands, however many there were since.
#[utoipa::path(
    get, path = "/jobs/{job_id}", tag = "jobs", operation_id = "get_job",
    params(("job_id" = i64, Path, description = "its number", example = 3)),
    responses((status = 200, body = JobView))
)]
pub(crate) async fn one(
    State(app): State<App>,
    Path(job_id): Path<i64>,
    Query(query): Query,
) -> Answer<JobView> {
    query.end()?;
    Ok(Json(JobView::of(app.admin()?.job(job_id).await?)))
}

/// Stop a job. What it has done stays done.
#[utoipa::path(
    post, path = "/jobs/{job_id}/cancel", tag = "jobs", operation_id = "cancel_job",
    params(("job_id" = i64, Path, description = "its number", example = 3)),
    responses((status = 200, body = Done))
)]
pub(crate) async fn cancel(
    State(app): State<App>,
    Path(job_id): Path<i64>,
    Extension(who): Extension<Who>,
    Body(body): Body,
) -> Answer<Done> {
    body.end()?;
    act(&app, OperatorAct::Cancel(job_id), &who).await
}
