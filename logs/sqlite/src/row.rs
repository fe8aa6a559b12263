//! Rows as entries. A row that cannot be understood is still an entry, one that says so.

use std::borrow::Cow;

use posthaste_core::{
    DEFAULT_EVENT_VERSION, Entry, Error, Event, EventId, Lane, Origin, Payload, Position, Result, Timestamp,
    driver::Defects,
};
use serde::Deserialize;
use sqlx::{Row, TypeInfo, ValueRef, sqlite::SqliteRow};

use crate::error::{damaged, failed};

pub(crate) const JSON: &str = "application/json";

/// Everything about an entry but its position and payload, as the statements put it into one JSON array.
#[derive(Deserialize)]
pub(crate) struct Facts<'j> {
    lane: u8,
    id: &'j str,
    key: Option<String>,
    event_type: String,
    event_version: Option<String>,
    topic: String,
    aggregate_type: Option<String>,
    aggregate_id: Option<String>,
    version: Option<i64>,
    tenant_id: Option<String>,
    content_type: Option<String>,
    headers: Option<String>,
    correlation_id: Option<String>,
    idempotency_key: Option<String>,
    deliver_after: Option<i64>,
    retry: Option<String>,
    occurred_at: i64,
    checked: i64,
    attempts: u32,
    blocked: u8,
}

/// From where rows were read, when, and under which limit.
#[derive(Clone, Copy)]
pub(crate) struct Look {
    pub(crate) origin: Origin,
    pub(crate) now: Timestamp,
    pub(crate) payload_limit: usize,
}

/// Decodes a row of (position, facts, payload).
pub(crate) fn entry(row: &SqliteRow, look: Look) -> Result<Entry> {
    let json: &[u8] = row.try_get_unchecked(1).map_err(failed("decode an entry"))?;
    let mut defects = Defects::default();
    match serde_json::from_slice::<Facts<'_>>(json) {
        Ok(facts) => facts.into_entry(row, look, defects),
        // Text of the database is UTF-8 unless somebody has forced something else into it.
        Err(_) => {
            defects.add("a text column is not UTF-8");
            let text = String::from_utf8_lossy(json);
            let facts: Facts<'_> = serde_json::from_str(&text).map_err(|error| {
                damaged("decode an entry: its columns are of other types").with_source(error)
            })?;
            facts.into_entry(row, look, defects)
        }
    }
}

impl Facts<'_> {
    fn into_entry(self, row: &SqliteRow, look: Look, mut defects: Defects) -> Result<Entry> {
        let payload = match Stored::of(row, 2)? {
            Stored::Bytes(bytes) => payload(bytes, self.content_type, self.checked == 1, &mut defects),
            Stored::TooLarge(size) => defects.too_large(size, look.payload_limit, self.content_type),
        };
        let event = Event {
            id: parse_id(self.id)?,
            event_type: Cow::Owned(self.event_type),
            event_version: self.event_version.map_or(Cow::Borrowed(DEFAULT_EVENT_VERSION), Cow::Owned),
            topic: self.topic,
            key: self.key,
            aggregate_type: self.aggregate_type.map(Cow::Owned),
            aggregate_id: self.aggregate_id,
            version: self.version,
            tenant_id: self.tenant_id,
            payload,
            headers: defects.headers(self.headers.as_deref()),
            correlation_id: self.correlation_id,
            idempotency_key: self.idempotency_key,
            deliver_after: self.deliver_after.map(Timestamp),
            retry: defects.retry(self.retry.as_deref()),
            occurred_at: Timestamp(self.occurred_at),
            draw_version: false,
        };
        Ok(Entry {
            position: Position(row.try_get_unchecked(0).map_err(failed("decode an entry"))?),
            lane: Lane(self.lane),
            delayed: look.origin == Origin::Log && event.deliver_after.is_some_and(|time| time > look.now),
            event,
            origin: look.origin,
            attempts: self.attempts,
            blocked: self.blocked != 0,
            defect: defects.into_text(),
        })
    }
}

/// A payload as the statements yield it.
pub(crate) enum Stored {
    Bytes(Vec<u8>),
    /// It is over the limit and was not loaded: how many bytes it has.
    TooLarge(usize),
}

impl Stored {
    pub(crate) fn of(row: &SqliteRow, column: usize) -> Result<Self> {
        let value = row.try_get_raw(column).map_err(failed("decode a payload"))?;
        // No payload is a number: the table takes texts and blobs only.
        if value.type_info().name() == "INTEGER" {
            let size: u64 = get(row, column)?;
            return Ok(Self::TooLarge(usize::try_from(size).unwrap_or(usize::MAX)));
        }
        get(row, column).map(Self::Bytes)
    }
}

fn payload(bytes: Vec<u8>, content_type: Option<String>, trusted: bool, defects: &mut Defects) -> Payload {
    if let Some(content_type) = content_type {
        return Payload::Bytes { bytes, content_type: Cow::Owned(content_type) };
    }
    if !trusted {
        defects.check_json(&bytes);
    }
    match String::from_utf8(bytes) {
        Ok(text) => Payload::Json(text),
        Err(error) => {
            defects.add("the payload is not UTF-8");
            Payload::Bytes { bytes: error.into_bytes(), content_type: Cow::Borrowed(JSON) }
        }
    }
}

/// Hexadecimal digits as an id.
fn parse_id(hex: &str) -> Result<EventId> {
    hex.parse().map_err(|error: Error| damaged("decode an entry: an id has not 16 bytes").with_source(error))
}

/// The id in a column of 16 bytes.
pub(crate) fn id_of(row: &SqliteRow, column: usize) -> Result<EventId> {
    let bytes: &[u8] = row.try_get_unchecked(column).map_err(failed("decode an id"))?;
    let bytes = bytes.try_into().map_err(|_| damaged("decode an id: it has not 16 bytes"))?;
    Ok(EventId::from_bytes(bytes))
}

/// Whether a column is null.
pub(crate) fn is_null(row: &SqliteRow, column: usize) -> Result<bool> {
    row.try_get_raw(column).map(|value| value.is_null()).map_err(failed("decode a row"))
}

/// A column that the statement promises to be of this type.
pub(crate) fn get<'r, T>(row: &'r SqliteRow, column: usize) -> Result<T>
where
    T: sqlx::Decode<'r, sqlx::Sqlite>,
{
    row.try_get_unchecked(column).map_err(failed("decode a row"))
}
