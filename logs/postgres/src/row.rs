//! Rows as entries. A row that cannot be understood is still an entry, one that says so.

use std::borrow::Cow;

use posthaste_core::{
    DEFAULT_EVENT_VERSION, Entry, Event, Lane, Origin, Payload, Position, Result, Timestamp, driver::Defects,
};
use sqlx::{Row, postgres::PgRow};

use crate::{
    error::failed,
    value::{Id, Time},
};

pub(crate) const JSON: &str = "application/json";

/// What is wrong with a row of which neither text nor bytes were loaded although they are not too large.
pub(crate) const TWO_PAYLOADS: &str =
    "it has a payload and payload_bytes; where there are bytes, payload must be empty";

/// How many columns an entry has; what a statement adds comes behind them.
pub(crate) const ENTRY_COLUMNS: usize = 22;

/// What the reader of a row knows.
pub(crate) struct Reader {
    pub(crate) origin: Origin,
    pub(crate) now: Timestamp,
    pub(crate) payload_limit: usize,
}

impl Reader {
    /// Decodes a row whose first columns are those of an entry, without whatever the statement adds.
    pub(crate) fn entry(&self, row: &PgRow) -> Result<Entry> {
        let mut defects = Defects::default();
        let deliver_after = get::<Option<Time>>(row, 15)?.map(|time| time.0);
        let event = Event {
            id: get::<Id>(row, 2)?.0,
            key: get(row, 3)?,
            event_type: Cow::Owned(get(row, 4)?),
            event_version: get::<Option<String>>(row, 5)?
                .map_or(Cow::Borrowed(DEFAULT_EVENT_VERSION), Cow::Owned),
            topic: get(row, 6)?,
            aggregate_type: get::<Option<String>>(row, 7)?.map(Cow::Owned),
            aggregate_id: get(row, 8)?,
            version: get(row, 9)?,
            tenant_id: get(row, 10)?,
            headers: defects.headers(get(row, 12)?),
            correlation_id: get(row, 13)?,
            idempotency_key: get(row, 14)?,
            deliver_after,
            retry: defects.retry(get(row, 16)?),
            occurred_at: get::<Time>(row, 17)?.0,
            payload: self.payload(row, &mut defects)?,
            draw_version: false,
        };
        Ok(Entry {
            position: Position(get(row, 0)?),
            lane: lane(row, 1)?,
            delayed: self.origin == Origin::Log && deliver_after.is_some_and(|time| time > self.now),
            event,
            origin: self.origin,
            attempts: 0,
            blocked: false,
            defect: defects.into_text(),
        })
    }

    fn payload(&self, row: &PgRow, defects: &mut Defects) -> Result<Payload> {
        let content_type: Option<String> = get(row, 11)?;
        let text: Option<String> = get(row, 19)?;
        let bytes: Option<Vec<u8>> = get(row, 20)?;
        if text.is_none() && bytes.is_none() {
            let size = usize::try_from(get::<i32>(row, 21)?).unwrap_or_default();
            if size > self.payload_limit {
                return Ok(defects.too_large(size, self.payload_limit, content_type));
            }
            defects.add(TWO_PAYLOADS);
            return Ok(Payload::Json(String::new()));
        }
        let content_type = content_type.map_or(Cow::Borrowed(JSON), Cow::Owned);
        match (text, bytes) {
            (Some(text), _) if content_type == JSON => {
                if !get::<bool>(row, 18)? {
                    defects.check_json(text.as_bytes());
                }
                Ok(Payload::Json(text))
            }
            (text, bytes) => {
                let bytes = text.map(String::into_bytes).or(bytes).unwrap_or_default();
                if content_type == JSON {
                    defects.check_json(&bytes);
                    // Of a text the database has made sure.
                    if std::str::from_utf8(&bytes).is_err() {
                        defects.add("the payload is not UTF-8");
                    }
                }
                Ok(Payload::Bytes { bytes, content_type })
            }
        }
    }
}

/// A lane in a `smallint`.
pub(crate) fn lane(row: &PgRow, column: usize) -> Result<Lane> {
    let lane: i16 = get(row, column)?;
    Ok(Lane(u8::try_from(lane).unwrap_or(u8::MAX)))
}

/// A column that the statement promises to be of this type.
pub(crate) fn get<'r, T>(row: &'r PgRow, column: usize) -> Result<T>
where
    T: sqlx::Decode<'r, sqlx::Postgres>,
{
    row.try_get_unchecked(column).map_err(failed("decode a row"))
}
