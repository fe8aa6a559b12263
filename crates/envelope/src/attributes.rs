//! The attributes of a CloudEvent, each with its name and its text: the same in the structured and in the binary form.

use std::fmt::Write;

use posthaste_core::{Entry, Event};

use crate::encoding::{IdText, Rfc3339};

/// The names of all attributes. [`each`] tells an attribute by its place in here.
pub(crate) const NAMES: [&str; 17] = [
    "specversion",
    "id",
    "source",
    "type",
    "time",
    "sequence",
    "aggregateversion",
    "subject",
    "datacontenttype",
    "topic",
    "partitionkey",
    "eventversion",
    "aggregatetype",
    "tenantid",
    "correlationid",
    "traceparent",
    "tracestate",
];

/// The attribute that is a header of its own in the binary form.
pub(crate) const DATA_CONTENT_TYPE: usize = 8;

/// Tells each attribute that the entry has, by its place in [`NAMES`], until one is not taken. An empty text is none:
/// an attribute must not be one.
pub(crate) fn each<E>(
    entry: &Entry,
    source: &str,
    mut tell: impl FnMut(usize, &str) -> Result<(), E>,
) -> Result<(), E> {
    let event = &entry.event;
    let mut text = String::new();
    tell(0, "1.0")?;
    tell(1, IdText::new(event.id).as_str())?;
    tell(2, source)?;
    tell(3, &event.event_type)?;
    if let Some(time) = Rfc3339::new(event.occurred_at) {
        tell(4, written(&mut text, format_args!("{time}")))?;
    }
    tell(5, written(&mut text, format_args!("{:019}", entry.position.0)))?;
    if let Some(version) = event.version {
        tell(6, written(&mut text, format_args!("{version}")))?;
    }
    for (index, value) in texts(event).into_iter().enumerate() {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            tell(FIRST_TEXT + index, value)?;
        }
    }
    Ok(())
}

/// Where the attributes begin that the event has as texts.
const FIRST_TEXT: usize = 7;

fn texts(event: &Event) -> [Option<&str>; NAMES.len() - FIRST_TEXT] {
    [
        event.aggregate_id.as_deref().or(event.key.as_deref()),
        Some(event.payload.content_type()),
        Some(&event.topic),
        event.key.as_deref(),
        Some(&event.event_version),
        event.aggregate_type.as_deref(),
        event.tenant_id.as_deref(),
        event.correlation_id.as_deref(),
        header(event, "traceparent"),
        header(event, "tracestate"),
    ]
}

fn header<'a>(event: &'a Event, name: &str) -> Option<&'a str> {
    event.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
}

fn written<'t>(text: &'t mut String, value: std::fmt::Arguments<'_>) -> &'t str {
    text.clear();
    // A text takes everything.
    let _ = text.write_fmt(value);
    text
}
