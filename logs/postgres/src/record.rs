//! Events as rows of a JSON text. Any driver can bind one text, so that publishing is one statement whatever the application uses, and
//! however many events there are.

use std::borrow::Cow;

use posthaste_core::{Buried, Due, Error, Event, Lane, Parked, Payload, Result, RetryOverrides, cut_error};
use serde::{Serialize, Serializer, de::IgnoredAny};

use crate::row::JSON;

/// All columns of an event; `RECORD` in the statements lists them.
#[derive(Serialize)]
pub(crate) struct Record<'e> {
    #[serde(serialize_with = "as_text")]
    id: &'e posthaste_core::EventId,
    key: Option<&'e str>,
    event_type: &'e str,
    event_version: &'e str,
    topic: &'e str,
    aggregate_type: Option<&'e str>,
    aggregate_id: Option<&'e str>,
    version: Option<i64>,
    tenant_id: Option<&'e str>,
    content_type: &'e str,
    headers: Option<String>,
    correlation_id: Option<&'e str>,
    idempotency_key: Option<&'e str>,
    deliver_after: Option<i64>,
    retry: Option<String>,
    occurred_at: i64,
    checked: bool,
    /// Empty if it is bytes.
    payload: &'e str,
    payload_base64: Option<String>,
}

impl<'e> Record<'e> {
    /// The event with this version.
    pub(crate) fn new(event: &'e Event, version: Option<i64>) -> Self {
        let payload_base64 = match &event.payload {
            Payload::Json(_) => None,
            Payload::Bytes { bytes, .. } => Some(base64(bytes)),
        };
        Self {
            id: &event.id,
            key: event.key.as_deref(),
            event_type: &event.event_type,
            event_version: &event.event_version,
            topic: &event.topic,
            aggregate_type: event.aggregate_type.as_deref(),
            aggregate_id: event.aggregate_id.as_deref(),
            version,
            tenant_id: event.tenant_id.as_deref(),
            content_type: event.payload.content_type(),
            headers: (!event.headers.is_empty()).then(|| json(&event.headers)),
            correlation_id: event.correlation_id.as_deref(),
            idempotency_key: event.idempotency_key.as_deref(),
            deliver_after: event.deliver_after.map(|time| time.0),
            retry: (event.retry != RetryOverrides::default()).then(|| json(&event.retry)),
            occurred_at: event.occurred_at.0,
            checked: is_readable(&event.payload),
            payload: json_text(&event.payload).unwrap_or_default(),
            payload_base64,
        }
    }
}

impl Record<'_> {
    /// The columns as texts, in the order in which the statements list them.
    pub(crate) fn texts(&self) -> [Option<Cow<'_, str>>; 19] {
        fn own<T: ToString>(value: T) -> Option<Cow<'static, str>> {
            Some(Cow::Owned(value.to_string()))
        }
        fn borrow<'t>(text: impl Into<Option<&'t str>>) -> Option<Cow<'t, str>> {
            text.into().map(Cow::Borrowed)
        }
        [
            own(self.id),
            borrow(self.key),
            borrow(self.event_type),
            borrow(self.event_version),
            borrow(self.topic),
            borrow(self.aggregate_type),
            borrow(self.aggregate_id),
            self.version.and_then(own),
            borrow(self.tenant_id),
            borrow(self.content_type),
            borrow(self.headers.as_deref()),
            borrow(self.correlation_id),
            borrow(self.idempotency_key),
            self.deliver_after.and_then(own),
            borrow(self.retry.as_deref()),
            own(self.occurred_at),
            borrow(if self.checked { "true" } else { "false" }),
            borrow(self.payload),
            borrow(self.payload_base64.as_deref()),
        ]
    }
}

/// Says which event PostgreSQL would refuse: its texts cannot hold a zero byte, and the error would end the caller's transaction.
pub(crate) fn check(event: &Event) -> Result<()> {
    let texts = [
        ("key", event.key.as_deref()),
        ("event type", Some(&*event.event_type)),
        ("event version", Some(&*event.event_version)),
        ("topic", Some(&*event.topic)),
        ("aggregate type", event.aggregate_type.as_deref()),
        ("aggregate id", event.aggregate_id.as_deref()),
        ("tenant id", event.tenant_id.as_deref()),
        ("content type", Some(event.payload.content_type())),
        ("correlation id", event.correlation_id.as_deref()),
        ("idempotency key", event.idempotency_key.as_deref()),
        ("payload", json_text(&event.payload)),
    ];
    match texts.iter().find(|(_, text)| text.is_some_and(|text| text.contains('\0'))) {
        Some((what, _)) => Err(Error::invalid(format!(
            "the {what} of event {} has a zero byte, which PostgreSQL cannot store in a text",
            event.id
        ))),
        None => Ok(()),
    }
}

/// The payload, if it is stored as a text.
fn json_text(payload: &Payload) -> Option<&str> {
    match payload {
        Payload::Json(text) => Some(text),
        Payload::Bytes { .. } => None,
    }
}

/// A row of what is parked.
#[derive(Serialize)]
pub(crate) struct ParkedRecord<'e> {
    position: i64,
    lane: u8,
    attempts: u32,
    /// From now on, or since 1970 if it is delayed.
    due: i64,
    delayed: bool,
    error: Option<String>,
    took: i64,
    #[serde(flatten)]
    event: Record<'e>,
}

impl<'e> ParkedRecord<'e> {
    pub(crate) fn new(lane: Lane, parked: &'e Parked) -> Self {
        let (due, delayed) = match parked.due {
            Due::In(span) => (micros(span), false),
            Due::Delayed(time) => (time.0, true),
        };
        Self {
            position: parked.position.0,
            lane: lane.0,
            attempts: parked.attempts,
            due,
            delayed,
            error: parked.error.as_deref().map(error_text),
            took: micros(parked.took),
            event: Record::new(&parked.event, parked.event.version),
        }
    }
}

/// A row of the dead letters.
#[derive(Serialize)]
pub(crate) struct BuriedRecord<'e> {
    position: i64,
    lane: u8,
    attempts: u32,
    reason: &'static str,
    error: String,
    holds: bool,
    took: i64,
    #[serde(flatten)]
    event: Record<'e>,
}

impl<'e> BuriedRecord<'e> {
    pub(crate) fn new(lane: Lane, buried: &'e Buried) -> Self {
        Self {
            position: buried.position.0,
            lane: lane.0,
            attempts: buried.attempts,
            reason: buried.reason.as_str(),
            error: error_text(&buried.error),
            holds: buried.holds,
            took: micros(buried.took),
            event: Record::new(&buried.event, buried.event.version),
        }
    }
}

/// What a destination said, as PostgreSQL can store it.
fn error_text(text: &str) -> String {
    cut_error(text).replace('\0', " ")
}

/// A span as it is bound.
pub(crate) fn micros(span: std::time::Duration) -> i64 {
    i64::try_from(span.as_micros()).unwrap_or(i64::MAX)
}

/// What the column `checked` promises, found out once, here, instead of at every read. A payload that only claims to be JSON is
/// stored as it is: readers will look at it, and say what is wrong with it.
fn is_readable(payload: &Payload) -> bool {
    payload.content_type() != JSON || serde_json::from_slice::<IgnoredAny>(payload.as_bytes()).is_ok()
}

/// As JSON text. Plain texts and numbers always can be.
pub(crate) fn json<T: Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).expect("texts, numbers and lists of them are JSON")
}

fn as_text<S: Serializer>(id: &posthaste_core::EventId, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(id)
}

fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let word =
            chunk.iter().fold(0u32, |word, byte| word << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let digit = ALPHABET[(word >> (18 - 6 * place) & 63) as usize];
            text.push(if place > chunk.len() { '=' } else { char::from(digit) });
        }
    }
    text
}
