//! Health and metrics: for those who supervise the program, and for those who look into it.

use axum::{
    Json,
    extract::{Request, State},
    http::{StatusCode, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
};
use serde::Serialize;
use tokio::time::Instant;
use utoipa::ToSchema;

use super::Answer;
use crate::{
    app::App,
    guard,
    health::{Check, State as Health, checks, gather, is_ready, reasons, worst},
    input::Query,
    problem::Problem,
    settings::Access,
};

/// A word for those who only want to know whether.
#[derive(Serialize, ToSchema)]
pub(crate) struct Word {
    /// `alive`, `ready` or `not_ready`.
    #[schema(example = "ready")]
    status: &'static str,
    /// Why it is not ready.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    reasons: Vec<&'static str>,
}

/// Everything that was looked at.
#[derive(Serialize, ToSchema)]
#[schema(as = Health)]
pub(crate) struct HealthView {
    /// The worst of all: `fine`, `warning` or `failing`; `unknown` if nothing is known yet.
    state: Health,
    /// Whether the relay gets on with its work.
    ready: bool,
    /// Each check, with its figure and its limit.
    checks: Vec<Check>,
}

/// Whether the process answers at all. It says nothing about deliveries.
#[utoipa::path(
    get, path = "/health/live", tag = "health", operation_id = "is_alive", security(()),
    responses((status = 200, body = Word))
)]
pub(crate) async fn alive(Query(query): Query) -> Result<Json<Word>, Problem> {
    query.end()?;
    Ok(Json(Word { status: "alive", reasons: Vec::new() }))
}

/// Whether the relay gets on with its work: it runs, has its lease, the database answers, and no subscription with work stands still.
#[utoipa::path(
    get, path = "/health/ready", tag = "health", operation_id = "is_ready", security(()),
    responses((status = 200, body = Word), (status = 503, body = Word))
)]
pub(crate) async fn ready(State(app): State<App>, Query(query): Query) -> Result<Response, Problem> {
    query.end()?;
    let checks = checks(&gather(&app, Instant::now()), &app.settings.limits);
    Ok(if is_ready(&checks) {
        Json(Word { status: "ready", reasons: Vec::new() }).into_response()
    } else {
        let word = Word { status: "not_ready", reasons: reasons(&checks) };
        (StatusCode::SERVICE_UNAVAILABLE, Json(word)).into_response()
    })
}

impl HealthView {
    fn now(app: &App) -> Self {
        let checks = checks(&gather(app, Instant::now()), &app.settings.limits);
        Self { state: worst(&checks), ready: is_ready(&checks), checks }
    }
}

/// Everything that is looked at, with figures and limits. The status is 503 if something is failing.
#[utoipa::path(
    get, path = "/health", tag = "health", operation_id = "get_health",
    responses((status = 200, body = HealthView), (status = 503, body = HealthView))
)]
pub(crate) async fn health(State(app): State<App>, Query(query): Query) -> Result<Response, Problem> {
    query.end()?;
    let view = HealthView::now(&app);
    let status = if view.state == Health::Failing { StatusCode::SERVICE_UNAVAILABLE } else { StatusCode::OK };
    Ok((status, Json(view)).into_response())
}

/// The same as `/health`, and always with the status 200: for those who look rather than supervise, to whom bad news are an answer.
#[utoipa::path(
    get, path = "/checks", tag = "health", operation_id = "list_checks",
    responses((status = 200, body = HealthView))
)]
pub(crate) async fn checked(State(app): State<App>, Query(query): Query) -> Answer<HealthView> {
    query.end()?;
    Ok(Json(HealthView::now(&app)))
}

/// What the relay in this process counts, as Prometheus reads it. Needs a token unless `server.metrics` is `public`.
#[utoipa::path(
    get, path = "/metrics", tag = "health", operation_id = "get_metrics", security((), ("bearer" = [])),
    responses(
        (status = 200, description = "text", content((String = "text/plain"))),
        (status = 404, description = "none are recorded in this process")
    )
)]
pub(crate) async fn metrics(
    State(app): State<App>,
    Query(query): Query,
    request: Request,
) -> Result<Response, Problem> {
    if app.settings.metrics == Access::Token {
        guard::identify(&app, &request)?;
    }
    query.end()?;
    let Some(exporter) = &app.exporter else {
        return Err(Problem::not_found("no metrics are recorded in this process"));
    };
    Ok(([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], exporter.render()).into_response())
}
