//! An entry as a CloudEvent 1.0 in the structured JSON form.

use posthaste_core::{Entry, Fault, Payload};
use serde::{
    Serialize, Serializer,
    ser::{Error as _, SerializeMap},
};
use serde_json::value::RawValue;

use crate::{
    attributes::{self, NAMES},
    encoding::base64,
};

/// Appends the entry to the buffer, as one JSON object. If it cannot be written, the buffer is left as it was.
///
/// Beside the attributes it has `headers`, all headers of the event with their own names, as a JSON object in text, because
/// names like `X-Request-Id` are none that CloudEvents allows and changing them could make two of them one; and the payload
/// as `data` if it is JSON, as it was published, and as `data_base64` otherwise.
pub fn write(buffer: &mut Vec<u8>, entry: &Entry, source: &str) -> Result<(), Fault> {
    let start = buffer.len();
    serde_json::to_writer(&mut *buffer, &CloudEvent { entry, source }).map_err(|error| {
        buffer.truncate(start);
        Fault::poison(format!("the event cannot be written as JSON: {error}"))
    })
}

struct CloudEvent<'a> {
    entry: &'a Entry,
    source: &'a str,
}

impl Serialize for CloudEvent<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let event = &self.entry.event;
        let mut map = serializer.serialize_map(None)?;
        attributes::each(self.entry, self.source, |attribute, text| {
            map.serialize_entry(NAMES[attribute], text)
        })?;
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

/// The text as it stands, if it is JSON: a row that another program inserted may not be.
fn raw(text: &str) -> Result<&RawValue, String> {
    serde_json::from_str(text).map_err(|error| format!("its payload is not JSON: {error}"))
}
