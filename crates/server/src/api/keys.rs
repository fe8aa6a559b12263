//! One key: its events in the order of the log, and what it waits for.

use axum::{Json, extract::State};
use posthaste::{EventFilter, Sort};
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
    /// Its events, oldest first.
    items: Vec<EventView>,
    /// The `cursor` of the page with newer ones.
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
    /// The event that is in the way: one that is parked, or a dead letter that holds the key until a person has decided.
    position: i64,
    /// When it is tried again, if it is parked and on this page.
    #[schema(format = DateTime)]
    due_at: Option<String>,
    /// How many events of this page wait behind it.
    waiting: usize,
}

/// Which page.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "the document is made of it")]
pub(crate) struct KeyPage {
    /// `next` of the page before.
    #[param(example = "awAAAAAAAAAq", pattern = "^a[w-z0-3][A-Za-z0-9_-]{10}$")]
    cursor: Option<String>,
    /// How many at most: 1 to 1000, 50 unless given.
    #[param(example = 50, minimum = 1, maximum = 1000)]
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
    let sort = Sort::OldestFirst;
    let filter = EventFilter { key: Some(key.clone()), sort, cursor, limit, ..EventFilter::default() };
    let page = app.admin()?.list(&filter).await?;
    if page.items.is_empty() && page.next.is_none() && cursor.is_none() {
        return Err(Problem::not_found(format!("no event in the log has the key {key:?}")));
    }
    let next = page.next.map(|row| cursor::write(Listing::Key, row));
    let items: Vec<EventView> = page.items.into_iter().map(EventView::of).collect();
    Ok(Json(KeyView { key, blocked: blocked(&items), items, next }))
}

/// What is in the way in each subscription.
fn blocked(events: &[EventView]) -> Vec<Blocked> {
    let mut found: Vec<Blocked> = Vec::new();
    let statuses = events.iter().flat_map(|event| &event.statuses);
    for (status, position) in statuses.filter_map(|status| Some((status, status.blocked_by?))) {
        match found.iter_mut().find(|blocked| blocked.subscription == status.subscription) {
            Some(blocked) => blocked.waiting += 1,
            None => {
                let head = events.iter().find(|event| event.position == position);
                let its = head.and_then(|head| {
                    head.statuses.iter().find(|found| found.subscription == status.subscription)
                });
                found.push(Blocked {
                    subscription: status.subscription.clone(),
                    position,
                    due_at: its.and_then(|its| its.due_at.clone()),
                    waiting: 1,
                });
            }
        }
    }
    found
}
