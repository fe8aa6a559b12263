//! The envelope: makes value and headers of an entry, without an allocation of its own where the buffer is kept.

use std::convert::Infallible;

use posthaste_core::{Entry, Event, Fault, Payload};

use crate::{
    Format,
    attributes::{self, DATA_CONTENT_TYPE, NAMES},
    cloud_event,
    encoding::{IdText, NumberText},
    object::{self, Facts, Told},
};

const CONTENT_TYPE: &str = "content-type";
const STRUCTURED_CONTENT_TYPE: &str = "application/cloudevents+json; charset=UTF-8";

/// The value of a message.
#[derive(Clone, Copy, Debug)]
pub struct Value<'a> {
    /// None is a null value.
    pub bytes: Option<&'a [u8]>,
    /// What stands in it need not be said by a header once more.
    told: Told,
}

/// Makes messages of entries; the [crate] says what they look like.
#[derive(Clone, Debug)]
pub struct Envelope {
    format: Format,
    source: String,
    tombstones: bool,
    /// The names of the attributes as headers.
    attribute_headers: Vec<String>,
}

impl Envelope {
    /// Messages of this format.
    #[must_use]
    pub fn new(format: Format) -> Self {
        Self { format, source: "posthaste".to_owned(), tombstones: false, attribute_headers: Vec::new() }
            .attribute_prefix("ce_")
    }

    /// What CloudEvents name as their `source`: a URI reference, such as `https://shop.example/orders`.
    #[must_use]
    pub fn source(mut self, source: impl Into<String>) -> Self {
        self.source = source.into();
        self
    }

    /// What the attributes of binary CloudEvents begin with as headers. Each transport has its own; `ce_` is Kafka's.
    #[must_use]
    pub fn attribute_prefix(mut self, prefix: &str) -> Self {
        self.attribute_headers = NAMES.iter().map(|name| format!("{prefix}{name}")).collect();
        self
    }

    /// A JSON payload of `null` is a null value, if the event has a key.
    #[must_use]
    pub fn tombstones(mut self, tombstones: bool) -> Self {
        self.tombstones = tombstones;
        self
    }

    /// The value of the entry's message. It is written to the buffer, unless it is the payload as it is.
    pub fn value<'a>(&self, entry: &'a Entry, buffer: &'a mut Vec<u8>) -> Result<Value<'a>, Fault> {
        let event = &entry.event;
        if self.tombstones && is_tombstone(event) {
            return Ok(Value { bytes: None, told: Told::Nothing });
        }
        buffer.clear();
        let told = match (self.format, &event.payload) {
            (Format::Posthaste, Payload::Json(text)) => write_facts(buffer, text, entry),
            (Format::CloudEventsStructured, _) => {
                cloud_event::write(buffer, entry, &self.source)?;
                Told::Everything
            }
            _ => Told::Nothing,
        };
        let bytes = if told == Told::Nothing { event.payload.as_bytes() } else { buffer };
        Ok(Value { bytes: Some(bytes), told })
    }

    /// Tells each header of the entry's message, name and text, the envelope's first. They depend on what the value says already.
    pub fn headers(&self, entry: &Entry, value: &Value<'_>, mut tell: impl FnMut(&str, &str)) {
        let event = &entry.event;
        match self.format {
            Format::Posthaste => {
                posthaste_headers(entry, value.told, &mut tell);
                own_headers(event, |name| POSTHASTE_HEADERS.contains(&name), tell);
            }
            Format::CloudEventsStructured => tell(CONTENT_TYPE, STRUCTURED_CONTENT_TYPE),
            Format::CloudEventsBinary => {
                self.attribute_headers(entry, &mut tell);
                own_headers(event, |name| self.is_attribute_header(name), tell);
            }
            Format::Raw => own_headers(event, |_| false, tell),
        }
    }

    fn attribute_headers(&self, entry: &Entry, tell: &mut impl FnMut(&str, &str)) {
        let told = attributes::each(entry, &self.source, |attribute, text| {
            let content_type = attribute == DATA_CONTENT_TYPE;
            tell(if content_type { CONTENT_TYPE } else { &self.attribute_headers[attribute] }, text);
            Ok::<(), Infallible>(())
        });
        let Ok(()) = told;
    }

    fn is_attribute_header(&self, name: &str) -> bool {
        name == CONTENT_TYPE || self.attribute_headers.iter().any(|header| header == name)
    }
}

/// The headers that only the envelope sets in its own format.
const POSTHASTE_HEADERS: [&str; 5] =
    ["event_type", "messageId", "sequence_number", "aggregate_id", "correlation_id"];

fn posthaste_headers(entry: &Entry, told: Told, tell: &mut impl FnMut(&str, &str)) {
    let event = &entry.event;
    let [event_type, message_id, sequence_number, aggregate_id, correlation_id] = POSTHASTE_HEADERS;
    tell(event_type, &event.event_type);
    if told == Told::Nothing {
        tell(message_id, IdText::new(event.id).as_str());
    }
    if told != Told::Everything {
        tell(sequence_number, sequence(entry).as_str());
    }
    if let Some(id) = &event.aggregate_id {
        tell(aggregate_id, id);
    }
    if let Some(id) = &event.correlation_id {
        tell(correlation_id, id);
    }
    if let Payload::Bytes { content_type, .. } = &event.payload
        && !event.headers.contains_key(CONTENT_TYPE)
    {
        tell(CONTENT_TYPE, content_type);
    }
}

fn own_headers(event: &Event, taken: impl Fn(&str) -> bool, mut tell: impl FnMut(&str, &str)) {
    for (name, text) in event.headers.iter().filter(|(name, _)| !taken(name)) {
        tell(name, text);
    }
}

fn write_facts(buffer: &mut Vec<u8>, payload: &str, entry: &Entry) -> Told {
    let (id, number) = (IdText::new(entry.event.id), sequence(entry));
    object::write(buffer, payload, Facts { id: id.as_str(), number: number.as_str() })
}

/// The event's number in its aggregate; without one, its position in the log.
fn sequence(entry: &Entry) -> NumberText {
    NumberText::new(entry.event.version.unwrap_or(entry.position.0))
}

fn is_tombstone(event: &Event) -> bool {
    matches!(&event.payload, Payload::Json(text) if event.key.is_some() && text.trim_ascii() == "null")
}
