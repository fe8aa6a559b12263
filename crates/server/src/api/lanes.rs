//! The lanes of a subscription.

use axum::{Json, extract::State};
use posthaste::LaneStatus;
use serde::Serialize;
use utoipa::ToSchema;

use super::Answer;
use crate::{
    app::App,
    input::{Path, Query},
    time,
};

/// How one lane of a subscription stands.
#[derive(Serialize, ToSchema)]
#[schema(as = Lane)]
pub(crate) struct LaneView {
    /// The lane.
    lane: u8,
    /// The number of its last line; 0 if it has none, which is damage.
    n: i64,
    /// What was done last: `taken`, `settled`, `given_back` or `reset`.
    #[schema(example = "settled")]
    kind: Option<&'static str>,
    /// When.
    #[schema(format = DateTime)]
    at: Option<String>,
    /// Who holds it, if that relay is alive.
    holder: Option<String>,
    /// The last position that is settled.
    settled: i64,
    /// Events ahead of the cursor.
    pending: u64,
    /// Whether that is an estimate.
    pending_estimated: bool,
    /// How old the oldest of them is, in seconds.
    oldest_age_seconds: Option<f64>,
}

impl LaneView {
    fn of(lane: LaneStatus) -> Self {
        Self {
            lane: lane.lane.0,
            n: lane.n,
            kind: lane.kind.map(posthaste::ActKind::as_str),
            at: lane.at.map(time::text),
            holder: lane.holder.map(|relay| relay.0),
            settled: lane.settled.0,
            pending: lane.pending,
            pending_estimated: lane.pending_estimated,
            oldest_age_seconds: lane.oldest_age_seconds,
        }
    }
}

/// All lanes of a subscription.
#[derive(Serialize, ToSchema)]
pub(crate) struct Lanes {
    /// Each, in order.
    items: Vec<LaneView>,
}

/// The lanes of a subscription: who holds them, and how far they are.
#[utoipa::path(
    get, path = "/subscriptions/{name}/lanes", tag = "subscriptions", operation_id = "list_lanes",
    params(("name" = String, Path, description = "its name", example = "billing")),
    responses((status = 200, body = Lanes))
)]
pub(crate) async fn list(
    State(app): State<App>,
    Path(name): Path<String>,
    Query(query): Query,
) -> Answer<Lanes> {
    query.end()?;
    let lanes = app.admin()?.lanes(&name).await?;
    Ok(Json(Lanes { items: lanes.into_iter().map(LaneView::of).collect() }))
}
