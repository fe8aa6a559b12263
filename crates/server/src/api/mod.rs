//! The API: its routes, and the OpenAPI document (`document`) that is made of them.
//!
//! One module a resource: what it looks like to callers, and the handlers. A handler asks its [`Input`](crate::input::Input) for what
//! it knows, asks or acts through `Admin`, and turns the answer into what callers see.

mod audit;
mod config;
mod dead_letters;
mod doctor;
mod document;
mod events;
mod health;
mod jobs;
mod keys;
mod lanes;
pub(crate) mod live;
mod me;
mod narrow;
mod page;
mod resolving;
mod status;
mod subscriptions;
mod tuning;

use std::sync::LazyLock;

use axum::{
    Json, Router,
    extract::DefaultBodyLimit,
    http::header::CONTENT_TYPE,
    middleware::{from_fn, from_fn_with_state},
    response::{IntoResponse, Response},
    routing::{any, get},
};
use utoipa_axum::{router::OpenApiRouter, routes};

pub use self::document::document;
use crate::{
    app::App,
    dashboard,
    guard::{self, BODY_LIMIT},
    problem::Problem,
};

/// What needs a token.
fn closed() -> OpenApiRouter<App> {
    let v1 = OpenApiRouter::new()
        .routes(routes!(me::me))
        .routes(routes!(status::status))
        .routes(routes!(status::relays))
        .routes(routes!(subscriptions::list))
        .routes(routes!(subscriptions::one, subscriptions::remove))
        .routes(routes!(subscriptions::pause))
        .routes(routes!(subscriptions::resume))
        .routes(routes!(subscriptions::reset))
        .routes(routes!(lanes::list))
        .routes(routes!(events::list, events::publish))
        .routes(routes!(events::one))
        .routes(routes!(keys::one))
        .routes(routes!(dead_letters::list))
        .routes(routes!(dead_letters::groups))
        .routes(routes!(dead_letters::one))
        .routes(routes!(resolving::replay))
        .routes(routes!(resolving::discard))
        .routes(routes!(resolving::edit))
        .routes(routes!(jobs::list))
        .routes(routes!(jobs::one))
        .routes(routes!(jobs::cancel))
        .routes(routes!(audit::list))
        .routes(routes!(live::live))
        .routes(routes!(live::history))
        .routes(routes!(live::notices))
        .routes(routes!(health::checked))
        .routes(routes!(config::config))
        .routes(routes!(doctor::doctor))
        .routes(routes!(tuning::tuning, tuning::change));
    let closed = OpenApiRouter::new().routes(routes!(health::health)).nest("/api/v1", v1);
    let closed = closed.route("/api/openapi.json", get(served));
    closed.route("/api", any(nothing)).route("/api/", any(nothing)).route("/api/{*rest}", any(nothing))
}

/// What everybody may ask, or decides for itself.
fn public() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(health::alive))
        .routes(routes!(health::ready))
        .routes(routes!(health::metrics))
        .routes(routes!(me::login))
}

/// Everything that the server answers.
pub(crate) fn router(app: App) -> Router {
    let closed: Router<App> = closed().split_for_parts().0;
    let wrong_method = async || Problem::wrong_method();
    // Before the layer, so that a stranger does not even learn what there is.
    let closed = closed.method_not_allowed_fallback(wrong_method);
    let closed = closed.layer(from_fn_with_state(app.clone(), guard::authenticate));
    let public: Router<App> = public().split_for_parts().0;
    let whole = closed.merge(public.method_not_allowed_fallback(wrong_method));
    let whole =
        if app.settings.dashboard { whole.fallback(dashboard::serve) } else { whole.fallback(nothing) };
    whole
        .layer(DefaultBodyLimit::max(BODY_LIMIT))
        .layer(from_fn_with_state(app.clone(), guard::bound))
        .layer(from_fn_with_state(app.clone(), guard::check_site))
        .layer(from_fn(guard::harden))
        .with_state(app)
}

/// The document itself.
async fn served() -> Response {
    static DOCUMENT: LazyLock<String> = LazyLock::new(document);
    ([(CONTENT_TYPE, "application/json")], DOCUMENT.as_str()).into_response()
}

async fn nothing() -> Problem {
    Problem::not_found("no such place; the document at /api/openapi.json lists all there are")
}

/// What handlers answer.
type Answer<T> = Result<Json<T>, Problem>;
