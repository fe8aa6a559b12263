//! Dead letters: in pages, and one.

use axum::{Json, extract::State};
use posthaste::{DeadFilter, DeadLetter, DeadReason};
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
    /// The payload as text; bytes that are not text are shown as hexadecimal digits.
    #[schema(example = "{\"order\":7}")]
    payload: String,
    /// Whether something of the payload is hidden behind `***`.
    redacted: bool,
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
    #[schema(example = "2026-03-01T12:00:00.000000Z")]
    moved_at: String,
    /// Whether its key waits for a person.
    holds: bool,
    /// What a person did: `replayed`, `edited`, `discarded`; none if nothing yet.
    resolution: Option<String>,
    /// When.
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
            payload: text,
            redacted,
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
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(
    dead_code,
    reason = "the document is made of it; what is read is in the handler and in read_selection, beside it"
)]
pub(crate) struct DeadLetters {
    /// Only of this subscription.
    #[param(example = "billing")]
    subscription: Option<String>,
    /// Only for this reason.
    #[param(example = "max_retries_exceeded")]
    reason: Option<String>,
    /// Only of this event type.
    #[param(example = "order.placed")]
    event_type: Option<String>,
    /// Only of this key.
    #[param(example = "order-7")]
    key: Option<String>,
    /// Also those that were replayed or discarded.
    resolved: Option<bool>,
    /// `next` of the page before.
    #[param(example = "ZAAAAAAAAAAq")]
    cursor: Option<String>,
    /// How many at most: 1 to 1000, 50 unless given.
    #[param(example = 50)]
    limit: Option<u32>,
}

/// Which dead letters are meant, without a page.
pub(super) fn read_selection(input: &Input) -> DeadFilter {
    DeadFilter {
        subscription: input.text("subscription"),
        reason: input.word("reason", &DeadReason::ALL.map(|reason| (reason.as_str(), reason))),
        event_type: input.text("event_type"),
        key: input.text("key"),
        ..DeadFilter::default()
    }
}

/// Dead letters, oldest first; without those that were resolved, unless these are asked for too.
#[utoipa::path(
    get, path = "/dead-letters", tag = "dead letters", operation_id = "list_dead_letters", params(DeadLetters),
    responses((status = 200, body = Page<DeadLetterView>))
)]
pub(crate) async fn list(State(app): State<App>, Query(query): Query) -> Answer<Page<DeadLetterView>> {
    let mut filter = read_selection(&query);
    filter.resolved = query.switch("resolved");
    filter.cursor = query.cursor(Listing::DeadLetters);
    filter.limit = query.limit();
    query.end()?;
    let page = app.admin.dead(&filter).await?;
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
    // They are numbered from 1, and a page goes on behind a number: the first one behind the number before is this one, or none is.
    let cursor = Some(dead_id - 1).filter(|before| *before > 0);
    let filter = DeadFilter { cursor, limit: 1, resolved: true, ..DeadFilter::default() };
    let found = app.admin.dead(&filter).await?.items.into_iter().find(|letter| letter.dead_id == dead_id);
    let view = |letter| Json(DeadLetterView::of(letter, &app.settings.redaction));
    found.map(view).ok_or_else(|| Problem::not_found(format!("there is no dead letter {dead_id}")))
}
