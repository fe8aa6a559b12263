//! What can change while the relay in this process runs.

use std::{collections::BTreeMap, ops::RangeInclusive, sync::Arc, time::Duration};

use axum::{Extension, Json, extract::State};
use posthaste::OperatorAct;
use serde::Serialize;
use utoipa::ToSchema;

use super::Answer;
use crate::{
    app::App,
    guard::Who,
    input::{Body, Input, Query},
    problem::Problem,
    tuned::{Tunable, Tuned, difference},
};

/// How the relay in this process is set, as far as that can change while it runs.
#[derive(Serialize, ToSchema)]
#[schema(as = Tuning)]
pub(crate) struct TuningView {
    /// The most events of one lane between a first send and its settlement.
    #[schema(example = 1000)]
    batch: usize,
    /// The wait between reads while events keep coming, in milliseconds.
    #[schema(example = 2.0)]
    poll_min_ms: f64,
    /// The longest wait between reads when nothing comes, in milliseconds.
    #[schema(example = 1000.0)]
    poll_max_ms: f64,
    /// How many events a second each subscription delivers at most, in all relays together; those without a limit are not here.
    rate_limits: BTreeMap<String, u32>,
    /// What is logged: a level, also by module.
    #[schema(example = "info")]
    log_level: String,
}

impl TuningView {
    pub(super) fn of(tuned: Tuned) -> Self {
        let Tuned { tuning, log_level } = tuned;
        Self {
            batch: tuning.batch,
            poll_min_ms: tuning.poll_min.as_secs_f64() * 1e3,
            poll_max_ms: tuning.poll_max.as_secs_f64() * 1e3,
            rate_limits: tuning.rate_limits,
            log_level,
        }
    }
}

/// How many events a second a limit can be.
pub(super) const RATES: RangeInclusive<i64> = 1..=10_000_000;

/// What to change: at least one of these. What is left out stays as it is.
#[derive(ToSchema)]
#[schema(min_properties = 1)]
#[expect(dead_code, reason = "it is only described: the fields are asked for by name")]
pub(crate) struct TuningChange {
    /// The most events of one lane between a first send and its settlement: 1 to 100000.
    #[schema(example = 500, minimum = 1, maximum = 100_000)]
    batch: Option<usize>,
    /// The wait between reads while events keep coming, in milliseconds: 1 to 10000.
    #[schema(minimum = 1, maximum = 10_000)]
    poll_min_ms: Option<u32>,
    /// The longest wait between reads when nothing comes, in milliseconds: 1 to 10000.
    #[schema(example = 200, minimum = 1, maximum = 10_000)]
    poll_max_ms: Option<u32>,
    /// How many events a second these subscriptions deliver at most; null takes the limit away.
    rate_limits: Option<BTreeMap<String, Option<u32>>>,
    /// What is logged: off, error, warn, info, debug or trace, also by module.
    #[schema(
        pattern = "^([A-Za-z0-9_:]+=)?(off|error|warn|info|debug|trace)(,([A-Za-z0-9_:]+=)?(off|error|warn|info|debug|trace))*$"
    )]
    log_level: Option<String>,
}

/// How the relay that serves this is set, as far as that can change while it runs.
#[utoipa::path(
    get, path = "/tuning", tag = "server", operation_id = "get_tuning",
    responses((status = 200, body = TuningView), (status = 404, description = "no relay runs in this process"))
)]
pub(crate) async fn tuning(State(app): State<App>, Query(query): Query) -> Answer<TuningView> {
    query.end()?;
    Ok(Json(TuningView::of(tunable(&app)?.tuned())))
}

/// Sets the relay that serves this otherwise while it runs: until it is started again, or reads its file again. Other relays are not
/// changed.
#[utoipa::path(
    patch, path = "/tuning", tag = "server", operation_id = "change_tuning",
    request_body = TuningChange,
    responses((status = 200, body = TuningView), (status = 404, description = "no relay runs in this process"))
)]
pub(crate) async fn change(
    State(app): State<App>,
    Extension(who): Extension<Who>,
    Body(body): Body,
) -> Answer<TuningView> {
    let tunable = tunable(&app)?;
    let before = tunable.tuned();
    let wanted = wanted(&before, body)?;
    let changes = difference(&before, &wanted);
    if !changes.is_empty() {
        tunable.tune(&wanted)?;
        let act = OperatorAct::Tune(changes.join(", "));
        if let Err(error) = app.admin()?.act(&act, &who.name).await {
            // Nothing is done of which nobody could know who did it.
            tunable.tune(&before)?;
            return Err(error.into());
        }
        tracing::info!(
            by = who.name,
            changes = changes.join(", "),
            "an operator has set the relay otherwise"
        );
    }
    Ok(Json(TuningView::of(tunable.tuned())))
}

fn tunable(app: &App) -> Result<&Arc<dyn Tunable>, Problem> {
    app.admin()?;
    let tunable = app.backing.get().and_then(|backing| backing.tunable.as_ref());
    tunable.ok_or_else(|| Problem::not_found("no relay runs in this process that could be set otherwise"))
}

/// How it is to be set.
fn wanted(before: &Tuned, body: Input) -> Result<Tuned, Problem> {
    let mut wanted = before.clone();
    let milliseconds = |name| {
        let number = body.number(name, 1..=10_000).and_then(|number| u64::try_from(number).ok());
        number.map(Duration::from_millis)
    };
    if let Some(batch) = body.number("batch", 1..=100_000).and_then(|batch| usize::try_from(batch).ok()) {
        wanted.tuning.batch = batch;
    }
    wanted.tuning.poll_min = milliseconds("poll_min_ms").unwrap_or(wanted.tuning.poll_min);
    wanted.tuning.poll_max = milliseconds("poll_max_ms").unwrap_or(wanted.tuning.poll_max);
    if let Some(level) = body.text("log_level") {
        wanted.log_level = level;
    }
    for (name, limit) in body.numbers_or_null("rate_limits", RATES) {
        match limit.and_then(|limit| u32::try_from(limit).ok()) {
            Some(limit) => _ = wanted.tuning.rate_limits.insert(name, limit),
            None => _ = wanted.tuning.rate_limits.remove(&name),
        }
    }
    body.end_with_any()?;
    Ok(wanted)
}
