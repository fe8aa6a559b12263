//! The event, its builder, and the rules an outbox applies when one is built.

mod builder;
mod rules;

use std::{borrow::Cow, collections::BTreeMap};

pub use self::{
    builder::EventBuilder,
    rules::{DEFAULT_PAYLOAD_LIMIT, EventRules, IntoEvent, Stamp, TopicRule, oversized},
};
use crate::{Error, EventId, EventType, Result, RetryOverrides, Timestamp};

/// The version of an event that names none.
pub const DEFAULT_EVENT_VERSION: &str = "1.0.0";

/// What an application publishes. Immutable once it is in the log.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Identifies it; consumers recognise repeats by it.
    pub id: EventId,
    /// What happened, such as `user.created`.
    pub event_type: Cow<'static, str>,
    /// The version of the event's schema.
    pub event_version: Cow<'static, str>,
    /// Where it goes: the topic, subject or routing key at the destination.
    pub topic: String,
    /// Events of one key are delivered in order. Without a key an event has no order.
    pub key: Option<String>,
    /// The kind of thing it happened to.
    pub aggregate_type: Option<Cow<'static, str>>,
    /// The thing it happened to.
    pub aggregate_id: Option<String>,
    /// The number of this event in its aggregate.
    pub version: Option<i64>,
    /// Passed through for applications with several tenants.
    pub tenant_id: Option<String>,
    /// The body, serialised once.
    pub payload: Payload,
    /// Text that travels beside the payload.
    pub headers: BTreeMap<String, String>,
    /// Ties together what belongs to one request.
    pub correlation_id: Option<String>,
    /// Publishing twice with the same topic and idempotency key publishes once.
    pub idempotency_key: Option<String>,
    /// Not to be delivered before.
    pub deliver_after: Option<Timestamp>,
    /// What this event changes of the retry policy.
    pub retry: RetryOverrides,
    /// When it happened, as the application says.
    pub occurred_at: Timestamp,
    /// The next number of its aggregate is drawn when it is published.
    pub draw_version: bool,
}

/// The body of an event.
#[derive(Clone, Debug, PartialEq)]
pub enum Payload {
    /// JSON text.
    Json(String),
    /// Anything else, with its content type.
    Bytes {
        /// The bytes as they are delivered.
        bytes: Vec<u8>,
        /// What they are, such as `application/octet-stream`.
        content_type: Cow<'static, str>,
    },
}

impl Payload {
    /// What the payload is.
    #[must_use]
    pub fn content_type(&self) -> &str {
        match self {
            Payload::Json(_) => JSON_CONTENT_TYPE,
            Payload::Bytes { content_type, .. } => content_type,
        }
    }

    /// The payload as it is delivered.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Payload::Json(text) => text.as_bytes(),
            Payload::Bytes { bytes, .. } => bytes,
        }
    }

    /// The same kind of payload without its bytes: what an entry has whose payload was not loaded.
    #[must_use]
    pub fn without_bytes(&self) -> Self {
        match self {
            Payload::Json(_) => Payload::Json(String::new()),
            Payload::Bytes { content_type, .. } => {
                Payload::Bytes { bytes: Vec::new(), content_type: content_type.clone() }
            }
        }
    }

    /// How many bytes it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.as_bytes().len()
    }

    /// Whether it has no bytes at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

pub(crate) const JSON_CONTENT_TYPE: &str = "application/json";

impl Event {
    /// Begins an event of this type.
    ///
    /// ```
    /// use posthaste_core::Event;
    ///
    /// let draft = Event::of("user.created").aggregate("user", "42").json(&serde_json::json!({ "name": "Ada" }))?;
    /// # Ok::<(), posthaste_core::Error>(())
    /// ```
    pub fn of(event_type: impl EventType) -> EventBuilder {
        EventBuilder::new(event_type.name())
    }

    /// Reads the payload as JSON into a type of the application.
    pub fn json<'a, T: serde::Deserialize<'a>>(&'a self) -> Result<T> {
        serde_json::from_slice(self.payload.as_bytes()).map_err(|error| {
            Error::invalid(format!("the payload of event {} is not what was asked for", self.id))
                .with_source(error)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn build(builder: EventBuilder) -> Result<Event> {
        builder
            .build(&EventRules::default(), Stamp { id: EventId::from_bytes([7; 16]), now: Timestamp(1_000) })
    }

    fn refusal(builder: EventBuilder) -> String {
        build(builder).unwrap_err().to_string()
    }

    #[test]
    fn fills_in_what_the_caller_left_out() {
        let event = build(Event::of("user.created").aggregate("user", 42).json(&1).unwrap()).unwrap();

        assert_eq!(event.id, EventId::from_bytes([7; 16]));
        assert_eq!(event.event_version, "1.0.0");
        assert_eq!(event.topic, "user.created");
        assert_eq!(event.key.as_deref(), Some("42"));
        assert_eq!(event.occurred_at, Timestamp(1_000));
        assert_eq!(event.payload, Payload::Json("1".to_owned()));
    }

    #[test]
    fn takes_exactly_one_payload() {
        assert!(refusal(Event::of("a")).contains("no payload"));
        assert!(
            refusal(Event::of("a").bytes("x", "text/plain").json(&1).unwrap())
                .contains("more than one payload")
        );
        assert!(build(Event::of("a").bytes("", "text/plain")).unwrap().payload.is_empty());
    }

    #[test]
    fn refuses_a_payload_over_the_limit_and_takes_one_at_it() {
        let of_size = |size: usize| Event::of("a").bytes(vec![0; size], "application/octet-stream");

        assert!(build(of_size(DEFAULT_PAYLOAD_LIMIT)).is_ok());
        let message = refusal(of_size(DEFAULT_PAYLOAD_LIMIT + 1));
        assert!(message.contains("1048577") && message.contains("1048576"), "{message}");
    }

    #[test]
    fn reports_everything_that_is_wrong_at_once() {
        let message = refusal(
            Event::of("").next_version().version(3).deliver_in(Duration::ZERO).deliver_after(Timestamp(0)),
        );

        for part in
            ["type is empty", "no payload", "next_version() exclude", "needs an aggregate", "deliver_in"]
        {
            assert!(message.contains(part), "{part} in {message}");
        }
    }

    #[test]
    fn derives_the_topic_by_the_rule() {
        let rules =
            EventRules { topic: TopicRule::new("shop.{aggregate_type}").unwrap(), ..EventRules::default() };
        let stamp = Stamp { id: EventId::from_bytes([0; 16]), now: Timestamp(0) };
        let draft = Event::of("placed").json(&1).unwrap();

        let derived = draft.clone().aggregate("order", 1).build(&rules, stamp).unwrap();
        assert_eq!(derived.topic, "shop.order");
        assert!(draft.build(&rules, stamp).unwrap_err().to_string().contains("needs an aggregate"));
        assert!(TopicRule::new("{tenant}").is_err());
    }
}
