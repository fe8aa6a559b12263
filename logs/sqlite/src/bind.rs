//! Events as bound values, in the order of the columns that the statements name.

use posthaste_core::{Event, Payload, RetryOverrides};
use serde::de::IgnoredAny;
use sqlx::{Sqlite, query::Query, sqlite::SqliteArguments};

use crate::row::JSON;

pub(crate) type Bound<'q> = Query<'q, Sqlite, SqliteArguments>;

/// Binds everything of an event, with this version.
pub(crate) fn event<'q>(query: Bound<'q>, event: &Event, version: Option<i64>) -> Bound<'q> {
    let query = query
        .bind(event.id.as_bytes().as_slice())
        .bind(event.key.as_deref())
        .bind(&*event.event_type)
        .bind(&*event.event_version)
        .bind(event.topic.as_str())
        .bind(event.aggregate_type.as_deref())
        .bind(event.aggregate_id.as_deref())
        .bind(version)
        .bind(event.tenant_id.as_deref())
        .bind(event.payload.content_type())
        .bind(headers(event))
        .bind(event.correlation_id.as_deref())
        .bind(event.idempotency_key.as_deref())
        .bind(event.deliver_after.map(|time| time.0))
        .bind(retry(&event.retry))
        .bind(event.occurred_at.0)
        .bind(is_readable(&event.payload));
    match &event.payload {
        Payload::Json(text) => query.bind(text.as_str()),
        Payload::Bytes { bytes, .. } => query.bind(bytes.as_slice()),
    }
}

/// What the column `checked` promises, found out once, here, instead of at every read. A payload that only claims to be JSON is
/// stored as it is: readers will look at it, and say what is wrong with it.
fn is_readable(payload: &Payload) -> bool {
    payload.content_type() != JSON || serde_json::from_slice::<IgnoredAny>(payload.as_bytes()).is_ok()
}

fn headers(event: &Event) -> Option<String> {
    if event.headers.is_empty() { None } else { Some(json(&event.headers)) }
}

fn retry(retry: &RetryOverrides) -> Option<String> {
    if *retry == RetryOverrides::default() { None } else { Some(json(retry)) }
}

/// As JSON text. Plain texts and numbers always can be.
pub(crate) fn json<T: serde::Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).expect("texts, numbers and lists of them are JSON")
}
