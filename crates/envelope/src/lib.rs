//! How an entry becomes a message: which topic it goes to, and what its key, value and headers are.
//!
//! Sinks share this, so that an event looks the same wherever it arrives. Nothing in here does I/O or looks at a clock.
//!
//! ```
//! use posthaste_envelope::{Envelope, Format};
//! # use posthaste_core::{Entry, Event, EventId, EventRules, Lane, Origin, Position, Stamp, Timestamp};
//! # let stamp = Stamp { id: EventId::from_bytes([7; 16]), now: Timestamp(0) };
//! # let draft = Event::of("order.placed").aggregate("order", 42).json(&serde_json::json!({ "total": 5 }))?;
//! # let event = draft.build(&EventRules::default(), stamp)?;
//! # let entry = Entry { position: Position(9), lane: Lane(0), event, origin: Origin::Log, attempts: 0, blocked: false,
//! #     delayed: false, defect: None };
//!
//! let envelope = Envelope::new(Format::Posthaste);
//! let mut buffer = Vec::new();
//! let value = envelope.value(&entry, &mut buffer).expect("it can be written").bytes.expect("it is not null");
//!
//! assert_eq!(
//!     std::str::from_utf8(value)?,
//!     concat!(
//!         r#"{"total":5,"messageId":"07070707-0707-0707-0707-070707070707","metadata":"#,
//!         r#"{"outbox_id":"07070707-0707-0707-0707-070707070707","sequence_number":9}}"#,
//!     )
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The key of a message is the event's key in every format. What the [formats](Format) make of the rest:
//!
//! | format | value | headers |
//! |---|---|---|
//! | [`Posthaste`](Format::Posthaste) | a JSON object, with the id and the number added to it; any other payload as it is | `event_type`, and where the event has them `aggregate_id` and `correlation_id`; `messageId` and `sequence_number` where the value does not have them; `content-type` if the payload is not JSON; the event's own |
//! | [`CloudEventsStructured`](Format::CloudEventsStructured) | a CloudEvent in JSON that has everything | `content-type` |
//! | [`CloudEventsBinary`](Format::CloudEventsBinary) | the payload as it is | the attributes, with a prefix; `content-type`; the event's own |
//! | [`Raw`](Format::Raw) | the payload as it is | the event's own |
//!
//! `traceparent` and `tracestate` are headers of the event, and travel as such.
//!
//! **In the format `Posthaste`** a payload that is a JSON object gets three members: `messageId`, by which a consumer
//! recognises a repeat, and in the object `metadata` the same id as `outbox_id` and the `sequence_number`. What the
//! payload's own `metadata` has stays there. These three names belong to Posthaste: if the payload has one of them, it is
//! replaced. What a value has no place for is in headers instead: `sequence_number` if the payload's `metadata` is no object,
//! which is left alone, and `messageId` as well if the payload is no object at all. Nothing is said twice, because bytes and
//! headers are what a broker works for.
//!
//! `sequence_number` is the event's version, its number in the aggregate. An event without one gets its position in the
//! log instead, which rises within a key but has gaps.
//!
//! **A header of the event that is called like one of the envelope's** is left out: the envelope's says the truth.
//!
//! **A null value**, which deletes a key in a compacted topic, is what a JSON payload of `null` becomes if the event has a
//! key and [`Envelope::tombstones`] says so. Otherwise it is the text `null`, as any other JSON.

mod attributes;
mod cloud_event;
mod encoding;
mod envelope;
mod format;
mod object;
mod topic;

pub use cloud_event::write as write_cloud_event;
pub use envelope::{Envelope, Value};
pub use format::Format;
pub use topic::TopicTemplate;
