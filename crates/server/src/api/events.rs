//! Events: in pages, one with everything that happened to it, and publishing.

use std::collections::BTreeMap;

use axum::{Extension, Json, extract::State, http::StatusCode};
use posthaste::{
    Event, EventBuilder, EventFilter, EventId, EventStatus, EventSummary, Sort, StatusWord, Timeline,
    TimelineItem,
};
use serde::Serialize;
use utoipa::{IntoParams, ToSchema};

use super::{Answer, page::Page};
use crate::{
    app::App,
    cursor::Listing,
    guard::Who,
    input::{Body, Input, Path, Query},
    problem::Problem,
    redact::Shown,
    time,
};

pub(super) const SORTS: [(&str, Sort); 2] = [("newest", Sort::NewestFirst), ("oldest", Sort::OldestFirst)];

/// An event in a listing.
#[derive(Serialize, ToSchema)]
#[schema(as = Event)]
pub(crate) struct EventView {
    /// Its place in the log.
    pub(super) position: i64,
    /// Its id.
    #[schema(example = "0190163d-8694-739b-aea5-966c26f8ad91")]
    id: String,
    /// Its type.
    #[schema(example = "order.placed")]
    event_type: String,
    /// The version of its type.
    #[schema(example = "1.0.0")]
    event_version: String,
    /// Its topic.
    #[schema(example = "orders")]
    topic: String,
    /// Its key.
    #[schema(example = "order-7")]
    key: Option<String>,
    /// Its lane.
    lane: u8,
    /// The type of its aggregate.
    aggregate_type: Option<String>,
    /// The id of its aggregate.
    aggregate_id: Option<String>,
    /// Its number in the aggregate.
    version: Option<i64>,
    /// Its tenant.
    tenant_id: Option<String>,
    /// What it belongs to.
    correlation_id: Option<String>,
    /// When it happened.
    #[schema(format = DateTime)]
    occurred_at: String,
    /// When it was written.
    #[schema(example = "2026-03-01T12:00:00.000000Z", format = DateTime)]
    created_at: String,
    /// Before this time it is not delivered.
    #[schema(format = DateTime)]
    deliver_after: Option<String>,
    /// Its status in each subscription that was asked for.
    pub(super) statuses: Vec<EventStatusView>,
}

impl EventView {
    pub(super) fn of(event: EventSummary) -> Self {
        Self {
            position: event.position.0,
            id: event.id.to_string(),
            event_type: event.event_type,
            event_version: event.event_version,
            topic: event.topic,
            key: event.key,
            lane: event.lane.0,
            aggregate_type: event.aggregate_type,
            aggregate_id: event.aggregate_id,
            version: event.version,
            tenant_id: event.tenant_id,
            correlation_id: event.correlation_id,
            occurred_at: time::text(event.occurred_at),
            created_at: time::text(event.created_at),
            deliver_after: event.deliver_after.map(time::text),
            statuses: event.statuses.into_iter().map(EventStatusView::of).collect(),
        }
    }
}

/// The status of an event in one subscription.
#[derive(Serialize, ToSchema)]
#[schema(as = EventStatus)]
pub(crate) struct EventStatusView {
    /// The subscription.
    #[schema(example = "billing")]
    pub(super) subscription: String,
    /// The status: `pending`, `processing`, `failed`, `delivered`, `dead`, `delayed` or `skipped`.
    #[schema(example = "failed")]
    pub(super) status: &'static str,
    /// Failed deliveries so far.
    attempts: u32,
    /// The last failure.
    #[schema(example = "connection reset by peer")]
    last_error: Option<String>,
    /// When it is tried again.
    #[schema(format = DateTime)]
    pub(super) due_at: Option<String>,
    /// The position of the first event of its key that it has to wait for: one that is parked, or a dead letter that holds the key.
    pub(super) blocked_by: Option<i64>,
}

impl EventStatusView {
    fn of(status: EventStatus) -> Self {
        Self {
            subscription: status.subscription,
            status: status.status.as_str(),
            attempts: status.attempts,
            last_error: status.last_error,
            due_at: status.due_at.map(time::text),
            blocked_by: status.blocked_by.map(|position| position.0),
        }
    }
}

/// Which events.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "the document is made of it; what is read is in read_filter, beside it")]
pub(crate) struct Events {
    /// As this subscription sees them; needed if a status is asked for.
    #[param(example = "billing")]
    subscription: Option<String>,
    /// Only those with this status in it.
    #[param(example = "failed")]
    status: Option<String>,
    /// Only of this type.
    #[param(example = "order.placed")]
    event_type: Option<String>,
    /// Only of this topic.
    #[param(example = "orders")]
    topic: Option<String>,
    /// Only of this key.
    #[param(example = "order-7")]
    key: Option<String>,
    /// Only of aggregates of this type.
    aggregate_type: Option<String>,
    /// Only of aggregates with this id.
    aggregate_id: Option<String>,
    /// Only of this tenant.
    tenant_id: Option<String>,
    /// Only what was written at this time or later.
    #[param(format = DateTime)]
    created_after: Option<String>,
    /// Only what was written before this time.
    #[param(format = DateTime)]
    created_before: Option<String>,
    /// `newest` first, or `oldest`; with a status only the former.
    sort: Option<String>,
    /// `next` of the page before.
    #[param(example = "ZQAAAAAAAAAq", pattern = "^Z[Q-X][A-Za-z0-9_-]{10}$")]
    cursor: Option<String>,
    /// How many at most: 1 to 1000, 50 unless given.
    #[param(example = 50, minimum = 1, maximum = 1000)]
    limit: Option<u32>,
}

fn read_filter(query: &Input) -> EventFilter {
    let filter = EventFilter {
        subscription: query.text("subscription"),
        status: query.word("status", &StatusWord::ALL.map(|word| (word.as_str(), word))),
        event_type: query.text("event_type"),
        topic: query.text("topic"),
        key: query.text("key"),
        aggregate_type: query.text("aggregate_type"),
        aggregate_id: query.text("aggregate_id"),
        tenant_id: query.text("tenant_id"),
        created_after: query.time("created_after"),
        created_before: query.time("created_before"),
        sort: query.word("sort", &SORTS).unwrap_or_default(),
        cursor: query.cursor(Listing::Events),
        limit: query.limit(),
    };
    if filter.status.is_some() && filter.subscription.is_none() {
        query.wrong("status", "is asked for without a subscription in which to have it; name one");
    }
    filter
}

/// Events with their status in one subscription or in all, newest first unless asked otherwise.
#[utoipa::path(
    get, path = "/events", tag = "events", operation_id = "list_events", params(Events),
    responses((status = 200, body = Page<EventView>), (status = 404, description = "there is no such subscription"))
)]
pub(crate) async fn list(State(app): State<App>, Query(query): Query) -> Answer<Page<EventView>> {
    let filter = read_filter(&query);
    query.end()?;
    let page = app.admin()?.list(&filter).await?;
    Ok(Json(Page::of(Listing::Events, page, EventView::of)))
}

/// One event and what happened to it.
#[derive(Serialize, ToSchema)]
#[schema(as = EventTimeline)]
pub(crate) struct TimelineView {
    /// The event, with its status in every subscription.
    event: EventView,
    /// Its payload as text; bytes that are not text are shown as hexadecimal digits.
    #[schema(example = "{\"order\":7}")]
    payload: String,
    /// Whether something of the payload is hidden behind `***`.
    redacted: bool,
    /// Its headers.
    headers: BTreeMap<String, String>,
    /// What happened, in order.
    timeline: Vec<HappenedView>,
}

/// Something that happened to an event.
#[derive(Serialize, ToSchema)]
#[schema(as = Happened)]
pub(crate) struct HappenedView {
    /// When.
    #[schema(example = "2026-03-01T12:00:00.000000Z", format = DateTime)]
    at: String,
    /// In which subscription; none for what concerns the event as such.
    subscription: Option<String>,
    /// What: `published`, `delivered`, `failed`, `dead`, `replayed`, `edited`, `discarded`.
    #[schema(example = "delivered")]
    what: String,
    /// Which attempt it was.
    attempt: Option<u32>,
    /// The error, or what an operator did.
    detail: Option<String>,
    /// Which relay or which operator.
    by: Option<String>,
}

impl HappenedView {
    fn of(item: TimelineItem) -> Self {
        let TimelineItem { at, subscription, what, attempt, detail, by } = item;
        Self { at: time::text(at), subscription, what, attempt, detail, by }
    }
}

/// One event with its payload, its status in each subscription and all that happened to it.
#[utoipa::path(
    get, path = "/events/{id}", tag = "events", operation_id = "get_event",
    params(("id" = String, Path, description = "its id, as UUID or ULID", example = "0190163d-8694-739b-aea5-966c26f8ad91")),
    responses((status = 200, body = TimelineView))
)]
pub(crate) async fn one(
    State(app): State<App>,
    Path(id): Path<String>,
    Query(query): Query,
) -> Answer<TimelineView> {
    query.end()?;
    let id: EventId = id.parse().map_err(|_| Problem::not_found("event ids are UUIDs or ULIDs"))?;
    let Timeline { event, payload, headers, items } = app.admin()?.show(id).await?;
    let Shown { text, redacted } = app.settings.redaction.show(payload);
    Ok(Json(TimelineView {
        event: EventView::of(event),
        payload: text,
        redacted,
        headers,
        timeline: items.into_iter().map(HappenedView::of).collect(),
    }))
}

/// An event to be published.
#[derive(ToSchema)]
#[expect(dead_code, reason = "the document is made of it; what is read is in read_event, beside it")]
pub(crate) struct NewEvent {
    /// Its type.
    #[schema(example = "order.placed")]
    event_type: String,
    /// Its payload: any JSON.
    #[schema(example = json!({"order": 7}))]
    payload: serde_json::Value,
    /// Its topic; as the outbox derives it unless given.
    #[schema(example = "orders")]
    topic: Option<String>,
    /// The key that orders it; the aggregate's id unless given.
    #[schema(example = "order-7")]
    key: Option<String>,
    /// The type of its aggregate. With `aggregate_id`, or without both.
    aggregate_type: Option<String>,
    /// The id of its aggregate.
    aggregate_id: Option<String>,
    /// Its tenant.
    tenant_id: Option<String>,
    /// Its headers.
    headers: Option<BTreeMap<String, String>>,
    /// A second event with this key in the same topic is answered with the first one's id, and not published.
    idempotency_key: Option<String>,
    /// Before this time it is not delivered.
    #[schema(example = "2026-03-01T12:00:00Z", format = DateTime)]
    deliver_after: Option<String>,
}

/// An event that is published.
#[derive(Serialize, ToSchema)]
#[schema(as = Published)]
pub(crate) struct PublishedView {
    /// Its id; of the first one if this was a duplicate.
    #[schema(example = "0190163d-8694-739b-aea5-966c26f8ad91")]
    id: String,
    /// Its place in the log; null if the database did not tell.
    position: Option<i64>,
    /// Whether it was there already, with the same topic and idempotency key.
    duplicate: bool,
}

/// Publish an event, in a transaction of its own. The header `posthaste-published-by` says who did.
#[utoipa::path(
    post, path = "/events", tag = "events", operation_id = "publish_event", request_body = NewEvent,
    responses((status = 201, body = PublishedView))
)]
pub(crate) async fn publish(
    State(app): State<App>,
    Extension(who): Extension<Who>,
    Body(body): Body,
) -> Result<(StatusCode, Json<PublishedView>), Problem> {
    let event = read_event(&body)?;
    body.end()?;
    app.admin()?;
    let Some(publisher) = app.backing.get().and_then(|backing| backing.publisher.as_ref()) else {
        return Err(Problem::refused("this server was started without a way to publish"));
    };
    let Some(event) = event else { return Err(Problem::invalid("the event is not complete")) };
    let published = publisher.publish(event.header("posthaste-published-by", &who.name)).await?;
    tracing::info!(by = who.name, id = %published.id, "an operator published an event");
    let view = PublishedView {
        id: published.id.to_string(),
        position: published.spot.map(|spot| spot.position.0),
        duplicate: published.duplicate,
    };
    Ok((StatusCode::CREATED, Json(view)))
}

/// None only if what is missing is noted.
fn read_event(body: &Input) -> Result<Option<EventBuilder>, Problem> {
    let event_type = body.required("event_type");
    body.demand("payload", "any JSON");
    let payload = body.any("payload");
    let (kind, id) = (body.text("aggregate_type"), body.text("aggregate_id"));
    if kind.is_some() != id.is_some() {
        body.wrong("aggregate_id", "and aggregate_type are there together, or both are not");
    }
    let mut event = Event::of(event_type.clone().unwrap_or_default());
    if let Some(payload) = payload {
        event = event.json(payload)?;
    }
    if let (Some(kind), Some(id)) = (kind, id) {
        event = event.aggregate(kind, id);
    }
    event = body.text("topic").into_iter().fold(event, EventBuilder::topic);
    event = body.text("key").into_iter().fold(event, EventBuilder::key);
    event = body.text("tenant_id").into_iter().fold(event, EventBuilder::tenant);
    event = body.text("idempotency_key").into_iter().fold(event, EventBuilder::idempotency_key);
    event = body.time("deliver_after").into_iter().fold(event, EventBuilder::deliver_after);
    for (name, value) in body.texts("headers").unwrap_or_default() {
        event = event.header(name, value);
    }
    Ok(event_type.and(payload).map(|_| event))
}
