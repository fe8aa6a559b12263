//! The configuration that counts, without secrets.

use axum::{Json, extract::State};
use serde::Serialize;
use utoipa::ToSchema;

use super::{Answer, tuning::TuningView};
use crate::{app::App, input::Query, problem::Problem};

/// The configuration that counts.
#[derive(Serialize, ToSchema)]
pub(crate) struct Configuration {
    /// As a file, defaults included, without secrets.
    #[schema(example = "relay:\n  lease: 15s  # default\n")]
    text: String,
    /// What was changed since, and all else that can change while the relay runs, as it counts now; none if no relay runs here.
    tuning: Option<TuningView>,
}

/// The configuration of the relay that serves this, as `posthaste config show` prints it.
#[utoipa::path(
    get, path = "/config", tag = "server",
    responses((status = 200, body = Configuration), (status = 404, description = "the server was started without one"))
)]
pub(crate) async fn config(State(app): State<App>, Query(query): Query) -> Answer<Configuration> {
    query.end()?;
    let tunable = app.backing.get().and_then(|backing| backing.tunable.as_ref());
    let text = tunable.and_then(|tunable| tunable.shown()).or_else(|| app.config.clone());
    let tuning = tunable.map(|tunable| TuningView::of(tunable.tuned()));
    match text {
        Some(text) => Ok(Json(Configuration { text, tuning })),
        None => Err(Problem::not_found("the server was started without a configuration")),
    }
}
