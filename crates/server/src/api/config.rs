//! The configuration that counts, without secrets.

use axum::{Json, extract::State};
use serde::Serialize;
use utoipa::ToSchema;

use super::Answer;
use crate::{app::App, input::Query, problem::Problem};

/// The configuration that counts.
#[derive(Serialize, ToSchema)]
pub(crate) struct Configuration {
    /// As a file, defaults included, without secrets.
    #[schema(example = "relay:\n  lease: 15s  # default\n")]
    text: String,
}

/// The configuration of the relay that serves this, as `posthaste config show` prints it.
#[utoipa::path(
    get, path = "/config", tag = "server",
    responses((status = 200, body = Configuration))
)]
pub(crate) async fn config(State(app): State<App>, Query(query): Query) -> Answer<Configuration> {
    query.end()?;
    match &app.config {
        Some(text) => Ok(Json(Configuration { text: text.clone() })),
        None => Err(Problem::not_found("the server was started without a configuration")),
    }
}
