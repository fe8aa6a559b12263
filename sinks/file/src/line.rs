//! One entry as one line: a CloudEvent in structured JSON form.

use std::fmt;

use posthaste_core::{Entry, Event, Fault, Payload, Timestamp};
use serde::{
    Serialize, Serializer,
    ser::{Error as _, SerializeMap},
};
use serde_json::value::RawValue;

/// How every line begins. A torn line is known by it.
pub(crate) const OPENING: &[u8] = br#"{"specversion":"1.0","id":""#;

/// Appends the entry's line to the buffer. If it cannot be written as one, the buffer is left as it was.
pub(crate) fn write(buffer: &mut Vec<u8>, entry: &Entry, source: &str) -> Result<(), Fault> {
    let start = buffer.len();
    if let Err(error) = serde_json::to_writer(&mut *buffer, &CloudEvent { entry, source }) {
        buffer.truncate(start);
        return Err(Fault::poison(format!("the event cannot be written as JSON: {error}")));
    }
    // In JSON a line break can only stand between two tokens, and there a blank means the same.
    for byte in buffer[start..].iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')) {
        *byte = b' ';
    }
    buffer.push(b'\n');
    Ok(())
}

struct CloudEvent<'a> {
    entry: &'a Entry,
    source: &'a str,
}

impl Serialize for CloudEvent<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let event = &self.entry.event;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("specversion", "1.0")?;
        map.serialize_entry("id", &format_args!("{}", event.id))?;
        map.serialize_entry("source", self.source)?;
        map.serialize_entry("type", &event.event_type)?;
        if let Some(time) = Rfc3339::new(event.occurred_at) {
            map.serialize_entry("time", &format_args!("{time}"))?;
        }
        map.serialize_entry("sequence", &format_args!("{:019}", self.entry.position.0))?;
        if let Some(version) = event.version {
            map.serialize_entry("aggregateversion", &format_args!("{version}"))?;
        }
        // An attribute must not be an empty text.
        for (name, value) in texts(event) {
            if let Some(value) = value.filter(|value| !value.is_empty()) {
                map.serialize_entry(name, value)?;
            }
        }
        if !event.headers.is_empty() {
            let headers = serde_json::to_string(&event.headers).map_err(S::Error::custom)?;
            map.serialize_entry("headers", &headers)?;
        }
        match &event.payload {
            Payload::Json(text) => map.serialize_entry("data", raw(text).map_err(S::Error::custom)?)?,
            Payload::Bytes { bytes, .. } => map.serialize_entry("data_base64", &base64(bytes))?,
        }
        map.end()
    }
}

fn texts(event: &Event) -> [(&'static str, Option<&str>); 10] {
    [
        ("subject", event.aggregate_id.as_deref().or(event.key.as_deref())),
        ("datacontenttype", Some(event.payload.content_type())),
        ("topic", Some(&event.topic)),
        ("partitionkey", event.key.as_deref()),
        ("eventversion", Some(&event.event_version)),
        ("aggregatetype", event.aggregate_type.as_deref()),
        ("tenantid", event.tenant_id.as_deref()),
        ("correlationid", event.correlation_id.as_deref()),
        ("traceparent", header(event, "traceparent")),
        ("tracestate", header(event, "tracestate")),
    ]
}

fn header<'a>(event: &'a Event, name: &str) -> Option<&'a str> {
    event.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
}

/// The text as it stands, if it is JSON: a row that another program inserted may not be.
fn raw(text: &str) -> Result<&RawValue, String> {
    serde_json::from_str(text).map_err(|error| format!("its payload is not JSON: {error}"))
}

/// A time that can be written by RFC 3339.
struct Rfc3339(humantime::Rfc3339Timestamp);

impl Rfc3339 {
    fn new(time: Timestamp) -> Option<Self> {
        const YEAR_10000: i64 = 253_402_300_800_000_000;
        (0..YEAR_10000).contains(&time.0).then(|| Self(humantime::format_rfc3339_micros(time.into())))
    }
}

impl fmt::Display for Rfc3339 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let word =
            chunk.iter().fold(0, |word, byte| word << 8 | usize::from(*byte)) << (8 * (3 - chunk.len()));
        for digit in 0..4 {
            let known = digit <= chunk.len();
            text.push(if known { ALPHABET[word >> (18 - 6 * digit) & 63].into() } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_pads_what_is_missing() {
        let cases = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("\u{ff}>?", "w78+Pw=="),
        ];
        for (bytes, expected) in cases {
            assert_eq!(base64(bytes.as_bytes()), expected);
        }
    }

    #[test]
    fn only_times_that_can_be_written_are() {
        let write = |micros| Rfc3339::new(Timestamp(micros)).map(|time| time.to_string());

        assert_eq!(write(1_700_000_000_123_456).as_deref(), Some("2023-11-14T22:13:20.123456Z"));
        assert_eq!(write(253_402_300_799_999_999).as_deref(), Some("9999-12-31T23:59:59.999999Z"));
        for outside in [-1, 253_402_300_800_000_000, i64::MIN, i64::MAX] {
            assert_eq!(write(outside), None);
        }
    }
}
