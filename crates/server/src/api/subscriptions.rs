//! Subscriptions: how they stand, and what operators do to them.

use axum::{Extension, Json, extract::State};
use posthaste::{Foreseen, OperatorAct, Position, ResetTo, SubscriptionStatus};
use serde::Serialize;
use utoipa::{IntoParams, ToSchema};

use super::Answer;
use crate::{
    app::App,
    guard::Who,
    input::{Body, Input, Parameters, Path, Query},
    problem::Problem,
    time,
};

/// How a subscription stands.
#[derive(Serialize, ToSchema)]
#[schema(as = Subscription)]
pub(crate) struct SubscriptionView {
    /// Its name.
    #[schema(example = "billing")]
    name: String,
    /// Whether an operator has paused it.
    paused: bool,
    /// Events ahead of the cursor, those that the filter will skip included.
    pending: u64,
    /// Whether that is an estimate.
    pending_estimated: bool,
    /// Events parked for a retry or behind one.
    failed: u64,
    /// Of those, events that have not failed themselves: they wait behind another of their key.
    behind: u64,
    /// Events that are not due yet.
    delayed: u64,
    /// Unresolved dead letters.
    dead: u64,
    /// Events that died in the last hour, resolved since or not, among the last 10,000 dead letters of the log.
    dead_last_hour: u64,
    /// Deliveries that its lines tell of.
    delivered: u64,
    /// Of those, deliveries in the last minute.
    delivered_last_minute: u64,
    /// Lanes that a live relay holds.
    lanes_held: u64,
    /// When a line was last appended.
    #[schema(format = DateTime)]
    moved_at: Option<String>,
    /// How old the oldest event is that is pending or failed, in seconds.
    oldest_age_seconds: Option<f64>,
    /// How old the oldest event is that is failed, in seconds.
    oldest_failed_seconds: Option<f64>,
}

impl SubscriptionView {
    pub(super) fn of(status: SubscriptionStatus) -> Self {
        Self {
            name: status.name,
            paused: status.paused,
            pending: status.pending,
            pending_estimated: status.pending_estimated,
            failed: status.failed,
            behind: status.behind,
            delayed: status.delayed,
            dead: status.dead,
            dead_last_hour: status.dead_last_hour,
            delivered: status.delivered,
            delivered_last_minute: status.delivered_last_minute,
            lanes_held: status.lanes_held,
            moved_at: status.moved_at.map(time::text),
            oldest_age_seconds: status.oldest_age_seconds,
            oldest_failed_seconds: status.oldest_failed_seconds,
        }
    }
}

/// All subscriptions.
#[derive(Serialize, ToSchema)]
pub(crate) struct Subscriptions {
    /// Each, by name. There are few: they have no pages.
    items: Vec<SubscriptionView>,
}

/// What an act came to.
#[derive(Serialize, ToSchema)]
pub(crate) struct Done {
    /// How many subscriptions, lanes or dead letters it concerned; 0 if all was as wished before.
    #[schema(example = 1)]
    pub(super) concerned: u64,
}

/// What an act concerns, or would.
#[derive(Serialize, ToSchema)]
#[schema(as = Foreseen)]
pub(crate) struct ForeseenView {
    /// Whether nothing was done.
    dry_run: bool,
    /// How many dead letters, subscriptions or lanes.
    concerned: u64,
    /// How many events come again: delivered, failed and dead ones.
    again: u64,
    /// How many pending events are passed over, so that they are never delivered.
    skipped: u64,
    /// Whether events were counted only in part, and the rest is estimated.
    estimated: bool,
}

impl ForeseenView {
    pub(super) fn of(foreseen: Foreseen, dry_run: bool) -> Self {
        let Foreseen { concerned, again, skipped, estimated } = foreseen;
        Self { dry_run, concerned, again, skipped, estimated }
    }
}

/// All subscriptions, and how they stand.
#[utoipa::path(
    get, path = "/subscriptions", tag = "subscriptions", operation_id = "list_subscriptions",
    responses((status = 200, body = Subscriptions))
)]
pub(crate) async fn list(State(app): State<App>, Query(query): Query) -> Answer<Subscriptions> {
    query.end()?;
    let status = app.admin()?.status().await?;
    Ok(Json(Subscriptions { items: status.subscriptions.into_iter().map(SubscriptionView::of).collect() }))
}

/// One subscription, and how it stands.
#[utoipa::path(
    get, path = "/subscriptions/{name}", tag = "subscriptions", operation_id = "get_subscription",
    params(("name" = String, Path, description = "its name", example = "billing")),
    responses((status = 200, body = SubscriptionView))
)]
pub(crate) async fn one(
    State(app): State<App>,
    Path(name): Path<String>,
    Query(query): Query,
) -> Answer<SubscriptionView> {
    query.end()?;
    let status = app.admin()?.status().await?;
    let found = status.subscriptions.into_iter().find(|found| found.name == name);
    found
        .map(|found| Json(SubscriptionView::of(found)))
        .ok_or_else(|| Problem::not_found(format!("there is no subscription {name:?}")))
}

/// Stop a subscription. Its relays settle what is under way and give its lanes back.
#[utoipa::path(
    post, path = "/subscriptions/{name}/pause", tag = "subscriptions", operation_id = "pause_subscription",
    params(("name" = String, Path, description = "its name", example = "billing")),
    responses((status = 200, body = Done))
)]
pub(crate) async fn pause(
    State(app): State<App>,
    Path(name): Path<String>,
    Extension(who): Extension<Who>,
    Body(body): Body,
) -> Answer<Done> {
    body.end()?;
    act(&app, OperatorAct::Pause(name), &who).await
}

/// Let a paused subscription go on.
#[utoipa::path(
    post, path = "/subscriptions/{name}/resume", tag = "subscriptions", operation_id = "resume_subscription",
    params(("name" = String, Path, description = "its name", example = "billing")),
    responses((status = 200, body = Done))
)]
pub(crate) async fn resume(
    State(app): State<App>,
    Path(name): Path<String>,
    Extension(who): Extension<Who>,
    Body(body): Body,
) -> Answer<Done> {
    body.end()?;
    act(&app, OperatorAct::Resume(name), &who).await
}

/// Where the log ends, in words.
pub(super) const RESETS: [(&str, ResetTo); 2] = [("beginning", ResetTo::Beginning), ("now", ResetTo::Now)];

/// Where to move a cursor: exactly one of these.
#[derive(ToSchema)]
#[expect(dead_code, reason = "the document is made of it; what is read is in read_reset, beside it")]
pub(crate) struct Reset {
    /// `beginning` of what is retained, or `now`, past everything that is committed.
    #[schema(example = "beginning")]
    to: Option<String>,
    /// So that the event at this position is the next one.
    #[schema(minimum = 1)]
    position: Option<i64>,
    /// So that the first event that was written at this time or later is the next one.
    #[schema(format = DateTime)]
    time: Option<String>,
    /// Only say what it would do.
    dry_run: Option<bool>,
}

/// Move the cursor of a paused subscription, once its lanes are given back. What lies between is delivered again, or never.
#[utoipa::path(
    post, path = "/subscriptions/{name}/reset", tag = "subscriptions", operation_id = "reset_subscription",
    params(("name" = String, Path, description = "its name", example = "billing")), request_body = Reset,
    responses((status = 200, body = ForeseenView))
)]
pub(crate) async fn reset(
    State(app): State<App>,
    Path(subscription): Path<String>,
    Extension(who): Extension<Who>,
    Body(body): Body,
) -> Answer<ForeseenView> {
    let to = read_reset(&body);
    let dry_run = body.switch("dry_run");
    body.end()?;
    let Some(to) = to else { return Err(Problem::invalid("one of to, position and time is needed")) };
    let act = OperatorAct::Reset { subscription, to };
    let foreseen = app.admin()?.foresee(&act).await?;
    if !dry_run {
        _ = super::subscriptions::act(&app, act, &who).await?;
    }
    Ok(Json(ForeseenView::of(foreseen, dry_run)))
}

fn read_reset(body: &Input) -> Option<ResetTo> {
    let to = body.word("to", &RESETS);
    let position =
        body.number("position", 1..=i64::MAX).map(|position| ResetTo::Position(Position(position)));
    let time = body.time("time").map(ResetTo::Time);
    let given: Vec<ResetTo> = [to, position, time].into_iter().flatten().collect();
    if given.len() > 1 {
        body.wrong("to", "and position and time exclude each other; one of them is allowed");
    }
    given.first().copied()
}

/// How to drop.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "the document is made of it; what is read is in the handler")]
pub(crate) struct Dropping {
    /// Only say what goes with it.
    #[param(example = true)]
    dry_run: Option<bool>,
}

/// What goes with a subscription that is dropped, or would.
#[derive(Serialize, ToSchema)]
pub(crate) struct Dropped {
    /// Whether nothing was done.
    dry_run: bool,
    /// Events ahead of its cursor, which it never delivers.
    pending: u64,
    /// Whether that is an estimate.
    pending_estimated: bool,
    /// Its parked events, which are gone: failed ones, and those that are not due yet.
    parked: u64,
    /// Its unresolved dead letters, which stay.
    dead: u64,
}

impl Dropped {
    fn of(found: &SubscriptionStatus, dry_run: bool) -> Self {
        Self {
            dry_run,
            pending: found.pending,
            pending_estimated: found.pending_estimated,
            parked: found.failed + found.delayed,
            dead: found.dead,
        }
    }
}

/// Remove a paused subscription, once its lanes are given back, with its cursors and everything parked. Its dead letters stay.
#[utoipa::path(
    delete, path = "/subscriptions/{name}", tag = "subscriptions", operation_id = "drop_subscription",
    params(("name" = String, Path, description = "its name", example = "billing"), Dropping),
    responses((status = 200, body = Dropped))
)]
pub(crate) async fn remove(
    State(app): State<App>,
    Path(name): Path<String>,
    Extension(who): Extension<Who>,
    Parameters(parameters): Parameters,
) -> Answer<Dropped> {
    let dry_run = parameters.switch("dry_run");
    parameters.end()?;
    let status = app.admin()?.status().await?;
    let found = status.subscriptions.into_iter().find(|found| found.name == name).unwrap_or_default();
    let drop = OperatorAct::Drop(name);
    if dry_run {
        app.admin()?.foresee(&drop).await?;
    } else {
        _ = act(&app, drop, &who).await?;
    }
    Ok(Json(Dropped::of(&found, dry_run)))
}

/// Does it in the name of whoever asked.
pub(super) async fn act(app: &App, act: OperatorAct, who: &Who) -> Answer<Done> {
    let concerned = app.admin()?.act(&act, &who.name).await?;
    tracing::info!(by = who.name, concerned, what = name(&act), "an operator acted");
    Ok(Json(Done { concerned }))
}

fn name(act: &OperatorAct) -> &'static str {
    match act {
        OperatorAct::Replay(_) => "replay",
        OperatorAct::Edit { .. } => "edit",
        OperatorAct::Discard(_) => "discard",
        OperatorAct::Start(_) => "start a job",
        OperatorAct::Cancel(_) => "cancel a job",
        OperatorAct::Pause(_) => "pause",
        OperatorAct::Resume(_) => "resume",
        OperatorAct::Reset { .. } => "reset",
        OperatorAct::Drop(_) => "drop",
        OperatorAct::Tune(_) => "tune",
    }
}
