//! One key: its events in the order of the log, and what it waits for.

use axum::{Json, extract::State};
use posthaste::{DeadFilter, EventFilter};
use serde::Serialize;
use utoipa::{IntoParams, ToSchema};

use super::{Answer, events::EventView};
use crate::{
    app::App,
    cursor::{self, Listing},
    input::{Path, Query},
    problem::Problem,
};

/// One key.
#[derive(Serialize, ToSchema)]
#[schema(as = Key)]
pub(crate) struct KeyView {
    /// The key.
    #[schema(example = "order-7")]
    key: String,
    /// Its events, oldest first. The first page has the newest ones.
    items: Vec<EventView>,
    /// The `cursor` of the page with older ones.
    #[schema(example = "awAAAAAAAAAq")]
    next: Option<String>,
    /// The subscriptions in which it waits, and for what, as far as this page shows.
    blocked: Vec<Blocked>,
}

/// What a key waits for in one subscription.
#[derive(Serialize, ToSchema)]
pub(crate) struct Blocked {
    /// The subscription.
    #[schema(example = "billing")]
    subscription: String,
    /// The event that is in the way, if it is parked.
    position: Option<i64>,
    /// The dead letter that is in the way, if it holds the key until a person has decided.
    dead_id: Option<i64>,
    /// When the event is tried again.
    due_at: Option<String>,
    /// How many events of this page wait.
    waiting: usize,
}

/// Which page.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "the document is made of it")]
pub(crate) struct KeyPage {
    /// `next` of the page before.
    #[param(example = "awAAAAAAAAAq")]
    cursor: Option<String>,
    /// How many at most: 1 to 1000, 50 unless given.
    #[param(example = 50)]
    limit: Option<u32>,
}

/// The events of one key in their order, with their status in each subscription, and what blocks the key.
#[utoipa::path(
    get, path = "/keys/{key}", tag = "events", operation_id = "get_key",
    params(("key" = String, Path, description = "the key", example = "order-7"), KeyPage),
    responses((status = 200, body = KeyView))
)]
pub(crate) async fn one(
    State(app): State<App>,
    Path(key): Path<String>,
    Query(query): Query,
) -> Answer<KeyView> {
    let (cursor, limit) = (query.cursor(Listing::Key), query.limit());
    query.end()?;
    let filter = EventFilter { key: Some(key.clone()), cursor, limit, ..EventFilter::default() };
    let page = app.admin.list(&filter).await?;
    let held = DeadFilter { key: Some(key.clone()), limit: crate::input::MAX_PAGE, ..DeadFilter::default() };
    let dead = app.admin.dead(&held).await?;
    if page.items.is_empty() && dead.items.is_empty() && cursor.is_none() {
        return Err(Problem::not_found(format!("no event in the log has the key {key:?}")));
    }
    let next = page.next.map(|row| cursor::write(Listing::Key, row));
    let mut items: Vec<EventView> = page.items.into_iter().map(EventView::of).collect();
    items.reverse();
    let holding = dead.items.into_iter().filter(|letter| letter.holds);
    let holding = holding.map(|letter| (letter.subscription, letter.dead_id)).collect();
    Ok(Json(KeyView { key, blocked: blocked(&items, holding), items, next }))
}

/// What is in the way in each subscription: the first parked event, or a dead letter before it that holds the key.
fn blocked(events: &[EventView], holding: Vec<(String, i64)>) -> Vec<Blocked> {
    let mut found: Vec<Blocked> = Vec::new();
    for (subscription, dead_id) in holding {
        if !found.iter().any(|blocked| blocked.subscription == subscription) {
            found.push(Blocked {
                subscription,
                position: None,
                dead_id: Some(dead_id),
                due_at: None,
                waiting: 0,
            });
        }
    }
    for event in events {
        for status in event.statuses.iter().filter(|status| status.status == "failed") {
            match found.iter_mut().find(|blocked| blocked.subscription == status.subscription) {
                Some(blocked) => blocked.waiting += 1,
                None => found.push(Blocked {
                    subscription: status.subscription.clone(),
                    position: Some(event.position),
                    dead_id: None,
                    due_at: status.due_at.clone(),
                    waiting: 0,
                }),
            }
        }
    }
    found
}
