//! The state of the log.

use axum::{Json, extract::State};
use posthaste::Status;
use serde::Serialize;
use utoipa::ToSchema;

use super::{Answer, subscriptions::SubscriptionView};
use crate::{app::App, input::Query};

/// The state of the log.
#[derive(Serialize, ToSchema)]
#[schema(as = Status)]
pub(crate) struct StatusView {
    /// The version of the tables.
    schema_version: i64,
    /// The number of lanes.
    #[schema(example = 64)]
    lanes: u8,
    /// How many events the log holds, delivered ones included.
    events: u64,
    /// How many bytes its tables take.
    bytes: u64,
    /// Live relays.
    relays: u64,
    /// Each subscription, by name.
    subscriptions: Vec<SubscriptionView>,
}

impl StatusView {
    fn of(status: Status) -> Self {
        Self {
            schema_version: status.schema_version,
            lanes: status.lanes,
            events: status.events,
            bytes: status.bytes,
            relays: status.relays,
            subscriptions: status.subscriptions.into_iter().map(SubscriptionView::of).collect(),
        }
    }
}

/// The state of the log and of every subscription.
#[utoipa::path(
    get, path = "/status", tag = "status",
    responses((status = 200, body = StatusView))
)]
pub(crate) async fn status(State(app): State<App>, Query(query): Query) -> Answer<StatusView> {
    query.end()?;
    Ok(Json(StatusView::of(app.admin.status().await?)))
}
