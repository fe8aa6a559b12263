//! The state of the log, and its relays.

use axum::{Json, extract::State};
use posthaste::{RelayStatus, Status};
use serde::Serialize;
use utoipa::ToSchema;

use super::{Answer, subscriptions::SubscriptionView};
use crate::{app::App, input::Query, time};

/// The state of the log.
#[derive(Serialize, ToSchema)]
#[schema(as = Status)]
pub(crate) struct StatusView {
    /// What time it is, by the clock of the log.
    #[schema(example = "2026-03-01T12:00:00.000000Z", format = DateTime)]
    now: String,
    /// The version of the tables.
    schema_version: i64,
    /// The number of lanes.
    #[schema(example = 64)]
    lanes: u8,
    /// How many events the log holds, delivered ones included.
    events: u64,
    /// Whether that is an estimate.
    events_estimated: bool,
    /// How many bytes its tables take.
    bytes: u64,
    /// What nobody will ever deliver, because the tables are damaged.
    orphaned: u64,
    /// Live relays, by id.
    relays: Vec<RelayView>,
    /// Each subscription, by name.
    subscriptions: Vec<SubscriptionView>,
}

impl StatusView {
    fn of(status: Status) -> Self {
        Self {
            now: time::text(status.now),
            schema_version: status.schema_version,
            lanes: status.lanes,
            events: status.events,
            events_estimated: status.events_estimated,
            bytes: status.bytes,
            orphaned: status.orphaned,
            relays: status.relays.into_iter().map(RelayView::of).collect(),
            subscriptions: status.subscriptions.into_iter().map(SubscriptionView::of).collect(),
        }
    }
}

/// A live relay.
#[derive(Serialize, ToSchema)]
#[schema(as = Relay)]
pub(crate) struct RelayView {
    /// Its id.
    #[schema(example = "web-1-4711-0c0ffee0")]
    relay: String,
    /// On which machine it runs.
    #[schema(example = "web-1")]
    host: String,
    /// The version of the program.
    #[schema(example = "0.1.0")]
    version: String,
    /// The subscriptions it serves.
    subscriptions: Vec<String>,
    /// Since when.
    #[schema(format = DateTime)]
    started_at: String,
    /// When its lease ends unless it is renewed.
    #[schema(format = DateTime)]
    held_until: String,
    /// How many lanes it holds, in all subscriptions.
    lanes: u64,
}

impl RelayView {
    fn of(relay: RelayStatus) -> Self {
        Self {
            relay: relay.relay.0,
            host: relay.host,
            version: relay.version,
            subscriptions: relay.subscriptions,
            started_at: time::text(relay.started_at),
            held_until: time::text(relay.held_until),
            lanes: relay.lanes,
        }
    }
}

/// All live relays.
#[derive(Serialize, ToSchema)]
pub(crate) struct Relays {
    /// Each, by id.
    items: Vec<RelayView>,
}

/// The state of the log, of every subscription and of the relays.
#[utoipa::path(
    get, path = "/status", tag = "status",
    responses((status = 200, body = StatusView))
)]
pub(crate) async fn status(State(app): State<App>, Query(query): Query) -> Answer<StatusView> {
    query.end()?;
    Ok(Json(StatusView::of(app.admin()?.status().await?)))
}

/// The relays that are alive, and what they hold.
#[utoipa::path(
    get, path = "/relays", tag = "status", operation_id = "list_relays",
    responses((status = 200, body = Relays))
)]
pub(crate) async fn relays(State(app): State<App>, Query(query): Query) -> Answer<Relays> {
    query.end()?;
    let status = app.admin()?.status().await?;
    Ok(Json(Relays { items: status.relays.into_iter().map(RelayView::of).collect() }))
}
