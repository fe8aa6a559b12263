//! Dead letters: in pages, in groups, and one.

use std::collections::BTreeMap;

use axum::{Json, extract::State};
use posthaste::{DeadFilter, DeadGroup, DeadLetter, DeadReason, ErrorText};
use serde::Serialize;
use utoipa::{IntoParams, ToSchema};

use super::{Answer, page::Page};
use crate::{
    app::App,
    cursor::Listing,
    input::{Input, Path, Query},
    problem::Problem,
    redact::{Redaction, Shown},
    time,
};

/// A dead letter.
#[derive(Serialize, ToSchema)]
#[schema(as = DeadLetter)]
pub(crate) struct DeadLetterView {
    /// Its own number.
    #[schema(example = 17)]
    dead_id: i64,
    /// The subscription in which it died.
    #[schema(example = "billing")]
    subscription: String,
    /// Its place in the log.
    position: i64,
    /// The event's id.
    #[schema(example = "0190163d-8694-739b-aea5-966c26f8ad91")]
    id: String,
    /// The event's type.
    #[schema(example = "order.placed")]
    event_type: String,
    /// The event's topic.
    #[schema(example = "orders")]
    topic: String,
    /// The event's key.
    #[schema(example = "order-7")]
    key: Option<String>,
    /// The type of the event's aggregate.
    aggregate_type: Option<String>,
    /// The id of the event's aggregate.
    aggregate_id: Option<String>,
    /// The event's tenant.
    tenant_id: Option<String>,
    /// What the payload is.
    #[schema(example = "application/json")]
    content_type: String,
    /// The payload as text; bytes that are not text are shown as hexadecimal digits.
    #[schema(example = "{\"order\":7}")]
    payload: String,
    /// Whether something of the payload is hidden behind `***`.
    redacted: bool,
    /// The event's headers.
    headers: BTreeMap<String, String>,
    /// Why it was given up: `max_retries_exceeded`, `poison_message`, `schema_validation_failed`, `processing_timeout` or
    /// `permanent_failure`.
    #[schema(example = "max_retries_exceeded")]
    reason: &'static str,
    /// The last failure.
    #[schema(example = "connection reset by peer")]
    error: String,
    /// How many deliveries failed.
    attempts: u32,
    /// When it died.
    #[schema(example = "2026-03-01T12:00:00.000000Z", format = DateTime)]
    moved_at: String,
    /// Whether its key waits for a person.
    holds: bool,
    /// What a person did: `replayed`, `edited`, `discarded`, `reset`; none if nothing yet.
    resolution: Option<String>,
    /// When.
    #[schema(format = DateTime)]
    resolved_at: Option<String>,
    /// Who.
    resolved_by: Option<String>,
    /// The id under which it was sent again, if that is another.
    new_id: Option<String>,
}

impl DeadLetterView {
    fn of(letter: DeadLetter, redaction: &Redaction) -> Self {
        let Shown { text, redacted } = redaction.show(letter.payload);
        Self {
            dead_id: letter.dead_id,
            subscription: letter.subscription,
            position: letter.position.0,
            id: letter.id.to_string(),
            event_type: letter.event_type,
            topic: letter.topic,
            key: letter.key,
            aggregate_type: letter.aggregate_type,
            aggregate_id: letter.aggregate_id,
            tenant_id: letter.tenant_id,
            content_type: letter.content_type,
            payload: text,
            redacted,
            headers: letter.headers,
            reason: letter.reason.as_str(),
            error: letter.error,
            attempts: letter.attempts,
            moved_at: time::text(letter.moved_at),
            holds: letter.holds,
            resolution: letter.resolution,
            resolved_at: letter.resolved_at.map(time::text),
            resolved_by: letter.resolved_by,
            new_id: letter.new_id.map(|id| id.to_string()),
        }
    }
}

/// Which dead letters.
#[derive(IntoParams, ToSchema)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "the document is made of it; what is read is in read_selection, beside it")]
pub(crate) struct DeadSelection {
    /// Only of this subscription.
    #[param(example = "billing")]
    #[schema(example = "billing")]
    subscription: Option<String>,
    /// Only for this reason.
    #[param(example = "max_retries_exceeded")]
    #[schema(example = "max_retries_exceeded")]
    reason: Option<String>,
    /// Only of this event type.
    event_type: Option<String>,
    /// Only of this topic.
    topic: Option<String>,
    /// Only of this key.
    key: Option<String>,
    /// Only with this first line of the error, as a group has it.
    error: Option<String>,
    /// Only with a first line of the error that begins so.
    error_prefix: Option<String>,
    /// Only those that died at this time or later.
    #[param(format = DateTime)]
    #[schema(format = DateTime)]
    moved_after: Option<String>,
    /// Only those that died before this time.
    #[param(format = DateTime)]
    #[schema(format = DateTime)]
    moved_before: Option<String>,
}

/// Which page.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "the document is made of it; what is read is in the handler")]
pub(crate) struct DeadPage {
    /// Also those that were replayed or discarded.
    resolved: Option<bool>,
    /// `next` of the page before.
    #[param(example = "ZAAAAAAAAAAq", pattern = "^Z[A-H][A-Za-z0-9_-]{10}$")]
    cursor: Option<String>,
    /// How many at most: 1 to 1000, 50 unless given.
    #[param(example = 50, minimum = 1, maximum = 1000)]
    limit: Option<u32>,
}

/// Which dead letters are meant, without a page.
pub(super) fn read_selection(input: &Input) -> DeadFilter {
    let (line, beginning) = (input.text("error"), input.text("error_prefix"));
    if line.is_some() && beginning.is_some() {
        input.wrong("error_prefix", "is there, and error as well; one of them is allowed");
    }
    DeadFilter {
        subscription: input.text("subscription"),
        reason: input.word("reason", &DeadReason::ALL.map(|reason| (reason.as_str(), reason))),
        event_type: input.text("event_type"),
        topic: input.text("topic"),
        key: input.text("key"),
        error: line.map(ErrorText::Line).or(beginning.map(ErrorText::Beginning)),
        moved_after: input.time("moved_after"),
        moved_before: input.time("moved_before"),
        ..DeadFilter::default()
    }
}

/// Dead letters, oldest first; without those that were resolved, unless these are asked for too.
#[utoipa::path(
    get, path = "/dead-letters", tag = "dead letters", operation_id = "list_dead_letters", params(DeadSelection, DeadPage),
    responses((status = 200, body = Page<DeadLetterView>))
)]
pub(crate) async fn list(State(app): State<App>, Query(query): Query) -> Answer<Page<DeadLetterView>> {
    let mut filter = read_selection(&query);
    filter.resolved = query.switch("resolved");
    filter.cursor = query.cursor(Listing::DeadLetters);
    filter.limit = query.limit();
    query.end()?;
    let page = app.admin()?.dead(&filter).await?;
    let view = |letter| DeadLetterView::of(letter, &app.settings.redaction);
    Ok(Json(Page::of(Listing::DeadLetters, page, view)))
}

/// One dead letter, resolved or not.
#[utoipa::path(
    get, path = "/dead-letters/{dead_id}", tag = "dead letters", operation_id = "get_dead_letter",
    params(("dead_id" = i64, Path, description = "its number", example = 17)),
    responses((status = 200, body = DeadLetterView))
)]
pub(crate) async fn one(
    State(app): State<App>,
    Path(dead_id): Path<i64>,
    Query(query): Query,
) -> Answer<DeadLetterView> {
    query.end()?;
    let filter = DeadFilter { dead_id: Some(dead_id), resolved: true, limit: 1, ..DeadFilter::default() };
    let found = app.admin()?.dead(&filter).await?.items.into_iter().next();
    let view = |letter| Json(DeadLetterView::of(letter, &app.settings.redaction));
    found.map(view).ok_or_else(|| Problem::not_found(format!("there is no dead letter {dead_id}")))
}

/// Unresolved dead letters that died of the same.
#[derive(Serialize, ToSchema)]
#[schema(as = Group)]
pub(crate) struct GroupView {
    /// In which subscription.
    #[schema(example = "billing")]
    subscription: String,
    /// Why.
    #[schema(example = "max_retries_exceeded")]
    reason: &'static str,
    /// Events of which type.
    #[schema(example = "order.placed")]
    event_type: String,
    /// The first line of the error, cut at 200 characters: `error` of a selection finds them.
    #[schema(example = "connection reset by peer")]
    error: String,
    /// How many.
    count: u64,
    /// When the first of them died.
    #[schema(format = DateTime)]
    first_at: String,
    /// When the last of them died.
    #[schema(format = DateTime)]
    last_at: String,
}

impl GroupView {
    fn of(group: DeadGroup) -> Self {
        Self {
            subscription: group.subscription,
            reason: group.reason.as_str(),
            event_type: group.event_type,
            error: group.error,
            count: group.count,
            first_at: time::text(group.first_at),
            last_at: time::text(group.last_at),
        }
    }
}

/// Groups of dead letters.
#[derive(Serialize, ToSchema)]
pub(crate) struct Groups {
    /// The largest first, at most 100.
    items: Vec<GroupView>,
}

/// Unresolved dead letters counted by subscription, reason, type and error.
#[utoipa::path(
    get, path = "/dead-letters/groups", tag = "dead letters", operation_id = "list_dead_letter_groups", params(DeadSelection),
    responses((status = 200, body = Groups))
)]
pub(crate) async fn groups(State(app): State<App>, Query(query): Query) -> Answer<Groups> {
    let filter = read_selection(&query);
    query.end()?;
    let groups = app.admin()?.dead_groups(&filter).await?;
    Ok(Json(Groups { items: groups.into_iter().map(GroupView::of).collect() }))
}
