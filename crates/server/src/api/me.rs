//! Who the caller is, and what he needs to be somebody.

use axum::{Extension, Json, extract::State};
use serde::Serialize;
use utoipa::ToSchema;

use super::Answer;
use crate::{app::App, guard::Who, input::Query};

/// Who the caller is.
#[derive(Serialize, ToSchema)]
pub(crate) struct Me {
    /// The name of the token: what the journal names for each act.
    #[schema(example = "ada")]
    name: String,
    /// What the caller may do: `viewer` or `operator`.
    #[schema(example = "operator")]
    role: &'static str,
    /// The version of the server.
    #[schema(example = "0.1.0")]
    version: &'static str,
}

/// Who the caller is, and what he may do.
#[utoipa::path(
    get, path = "/me", tag = "server",
    responses((status = 200, body = Me))
)]
pub(crate) async fn me(Query(query): Query, Extension(who): Extension<Who>) -> Answer<Me> {
    query.end()?;
    Ok(Json(Me { name: who.name, role: who.role.as_str(), version: env!("CARGO_PKG_VERSION") }))
}

/// What it takes to get in.
#[derive(Serialize, ToSchema)]
pub(crate) struct Login {
    /// Whether a token is needed. Where the server is open everybody is an operator.
    token_needed: bool,
}

/// Whether a token is needed: what the dashboard asks before it asks for one.
#[utoipa::path(
    get, path = "/api/v1/login", tag = "server", operation_id = "get_login", security(()),
    responses((status = 200, body = Login))
)]
pub(crate) async fn login(State(app): State<App>, Query(query): Query) -> Answer<Login> {
    query.end()?;
    Ok(Json(Login { token_needed: !app.settings.open }))
}
