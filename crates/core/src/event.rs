//! The event, its builder, and the rules an outbox applies when one is built.

use std::{borrow::Cow, collections::BTreeMap, time::Duration};

use serde::Serialize;

use crate::{AggregateType, Error, EventId, EventType, Result, RetryOverrides, Timestamp};

/// The version of an event that names none.
pub const DEFAULT_EVENT_VERSION: &str = "1.0.0";

/// The largest payload an outbox takes unless it is configured otherwise: 1 MiB.
pub const DEFAULT_PAYLOAD_LIMIT: usize = 1_048_576;

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

const JSON_CONTENT_TYPE: &str = "application/json";

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

/// An event that is being put together. It is finished, and checked, when it is published.
#[derive(Clone, Debug)]
#[must_use = "an event does nothing until it is published"]
pub struct EventBuilder {
    event_type: Cow<'static, str>,
    payloads: Vec<Payload>,
    id: Option<EventId>,
    event_version: Option<Cow<'static, str>>,
    topic: Option<String>,
    key: Option<String>,
    unkeyed: bool,
    aggregate_type: Option<Cow<'static, str>>,
    aggregate_id: Option<String>,
    version: Option<i64>,
    draw_version: bool,
    tenant_id: Option<String>,
    headers: BTreeMap<String, String>,
    correlation_id: Option<String>,
    idempotency_key: Option<String>,
    deliver_after: Option<Timestamp>,
    delay: Option<Duration>,
    retry: RetryOverrides,
    occurred_at: Option<Timestamp>,
}

impl EventBuilder {
    fn new(event_type: Cow<'static, str>) -> Self {
        Self {
            event_type,
            payloads: Vec::new(),
            id: None,
            event_version: None,
            topic: None,
            key: None,
            unkeyed: false,
            aggregate_type: None,
            aggregate_id: None,
            version: None,
            draw_version: false,
            tenant_id: None,
            headers: BTreeMap::new(),
            correlation_id: None,
            idempotency_key: None,
            deliver_after: None,
            delay: None,
            retry: RetryOverrides::default(),
            occurred_at: None,
        }
    }

    /// The payload, as JSON. It is serialised here, once.
    pub fn json(self, payload: &impl Serialize) -> Result<Self> {
        let text = serde_json::to_string(payload).map_err(|error| {
            Error::invalid(format!("payload of {:?} cannot be written as JSON", self.event_type))
                .with_source(error)
        })?;
        Ok(self.payload(Payload::Json(text)))
    }

    /// The payload, as bytes of this content type.
    pub fn bytes(self, bytes: impl Into<Vec<u8>>, content_type: impl Into<Cow<'static, str>>) -> Self {
        self.payload(Payload::Bytes { bytes: bytes.into(), content_type: content_type.into() })
    }

    /// The payload, already serialised.
    pub fn payload(mut self, payload: Payload) -> Self {
        self.payloads.push(payload);
        self
    }

    /// An id of the application's own, instead of a new one.
    pub fn id(mut self, id: impl Into<EventId>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// The version of the event's schema; `1.0.0` unless set.
    pub fn event_version(mut self, version: impl Into<Cow<'static, str>>) -> Self {
        self.event_version = Some(version.into());
        self
    }

    /// The topic, instead of the one that the outbox derives.
    pub fn topic(mut self, topic: impl Into<String>) -> Self {
        self.topic = Some(topic.into());
        self
    }

    /// The key that orders it, instead of the aggregate id.
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// No key and so no order, although it has an aggregate.
    pub fn unkeyed(mut self) -> Self {
        self.unkeyed = true;
        self
    }

    /// What it happened to: the type and the id of the aggregate. The id is the key unless another is set.
    pub fn aggregate(mut self, aggregate_type: impl AggregateType, id: impl ToString) -> Self {
        self.aggregate_type = Some(aggregate_type.name());
        self.aggregate_id = Some(id.to_string());
        self
    }

    /// The number of this event in its aggregate, as the application counts.
    pub fn version(mut self, version: i64) -> Self {
        self.version = Some(version);
        self
    }

    /// Draws the next number of its aggregate when it is published: without gaps, in commit order. Publishers of
    /// one aggregate wait for each other until they commit.
    pub fn next_version(mut self) -> Self {
        self.draw_version = true;
        self
    }

    /// The tenant.
    pub fn tenant(mut self, tenant_id: impl Into<String>) -> Self {
        self.tenant_id = Some(tenant_id.into());
        self
    }

    /// One header.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.insert(name.into(), value.into());
        self
    }

    /// The correlation id.
    pub fn correlation(mut self, id: impl Into<String>) -> Self {
        self.correlation_id = Some(id.into());
        self
    }

    /// Publishing again with the same topic and this key answers with the first event's id.
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.idempotency_key = Some(key.into());
        self
    }

    /// Not to be delivered before this time.
    pub fn deliver_after(mut self, time: impl Into<Timestamp>) -> Self {
        self.deliver_after = Some(time.into());
        self
    }

    /// Not to be delivered before this long after it is published.
    pub fn deliver_in(mut self, delay: Duration) -> Self {
        self.delay = Some(delay);
        self
    }

    /// What this event changes of the retry policy.
    pub fn retry(mut self, overrides: RetryOverrides) -> Self {
        self.retry = overrides;
        self
    }

    /// When it happened; the time of publishing unless set.
    pub fn occurred_at(mut self, time: impl Into<Timestamp>) -> Self {
        self.occurred_at = Some(time.into());
        self
    }

    /// Finishes the event by the rules of an outbox, and says everything that is wrong with it.
    pub fn build(mut self, rules: &EventRules, stamp: Stamp) -> Result<Event> {
        self.check()?;
        let payload = self.payloads.swap_remove(0);
        let key = if self.unkeyed { None } else { self.key.or_else(|| self.aggregate_id.clone()) };
        let topic = match self.topic {
            Some(topic) => topic,
            None => rules.topic.derive(&self.event_type, self.aggregate_type.as_deref())?,
        };
        let event = Event {
            id: self.id.unwrap_or(stamp.id),
            event_version: self.event_version.unwrap_or(Cow::Borrowed(DEFAULT_EVENT_VERSION)),
            event_type: self.event_type,
            topic,
            key,
            aggregate_type: self.aggregate_type,
            aggregate_id: self.aggregate_id,
            version: self.version,
            draw_version: self.draw_version,
            tenant_id: self.tenant_id,
            payload,
            headers: self.headers,
            correlation_id: self.correlation_id,
            idempotency_key: self.idempotency_key,
            deliver_after: self.deliver_after.or(self.delay.map(|delay| stamp.now + delay)),
            retry: self.retry,
            occurred_at: self.occurred_at.unwrap_or(stamp.now),
        };
        rules.check(&event)?;
        Ok(event)
    }

    fn check(&self) -> Result<()> {
        let mut problems = Vec::new();
        if self.event_type.is_empty() {
            problems.push("the event type is empty");
        }
        match self.payloads.len() {
            0 => problems.push("it has no payload; call json(…) or bytes(…)"),
            1 => {}
            _ => problems.push("it has more than one payload; call json(…) or bytes(…), and only once"),
        }
        if self.draw_version && self.version.is_some() {
            problems.push("version(…) and next_version() exclude each other");
        }
        if self.draw_version && self.aggregate_id.is_none() {
            problems.push("next_version() needs an aggregate");
        }
        if self.deliver_after.is_some() && self.delay.is_some() {
            problems.push("deliver_after(…) and deliver_in(…) exclude each other");
        }
        if self.retry.max_attempts == Some(0) {
            problems.push("retry.max_attempts is 0; it must be at least 1");
        }
        if problems.is_empty() {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "event {:?} cannot be published: {}",
            self.event_type,
            problems.join("; ")
        )))
    }
}

/// What an outbox asks of every event.
#[derive(Clone, Debug)]
pub struct EventRules {
    /// The largest payload it takes, in bytes.
    pub payload_limit: usize,
    /// Where events without a topic go.
    pub topic: TopicRule,
}

impl Default for EventRules {
    fn default() -> Self {
        Self { payload_limit: DEFAULT_PAYLOAD_LIMIT, topic: TopicRule::default() }
    }
}

impl EventRules {
    fn check(&self, event: &Event) -> Result<()> {
        if event.payload.len() > self.payload_limit {
            return Err(Error::invalid(format!(
                "event {:?} cannot be published: its payload has {} bytes, and {} are allowed; store the large part \
                 elsewhere and publish a reference, or raise the payload limit",
                event.event_type,
                event.payload.len(),
                self.payload_limit
            )));
        }
        if event.topic.is_empty() {
            return Err(Error::invalid(format!(
                "event {:?} cannot be published: its topic is empty",
                event.event_type
            )));
        }
        Ok(())
    }
}

/// How the topic of an event follows from its type: a template in which `{event_type}` and `{aggregate_type}`
/// are replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicRule(String);

impl Default for TopicRule {
    fn default() -> Self {
        Self("{event_type}".to_owned())
    }
}

impl TopicRule {
    /// The rule with this template; a text without braces is a fixed topic.
    pub fn new(template: impl Into<String>) -> Result<Self> {
        let template = template.into();
        let rest = template.replace("{event_type}", "").replace("{aggregate_type}", "");
        if template.is_empty() || rest.contains(['{', '}']) {
            return Err(Error::invalid(format!(
                "topic rule {template:?} is not understood; write text with {{event_type}} and {{aggregate_type}}"
            )));
        }
        Ok(Self(template))
    }

    fn derive(&self, event_type: &str, aggregate_type: Option<&str>) -> Result<String> {
        let topic = self.0.replace("{event_type}", event_type);
        match aggregate_type {
            Some(aggregate) => Ok(topic.replace("{aggregate_type}", aggregate)),
            None if topic.contains("{aggregate_type}") => Err(Error::invalid(format!(
                "event {event_type:?} cannot be published: the topic rule {:?} needs an aggregate; call aggregate(…) or topic(…)",
                self.0
            ))),
            None => Ok(topic),
        }
    }
}

/// What is fresh for each event: an id and the time.
#[derive(Clone, Copy, Debug)]
pub struct Stamp {
    /// The id, unless the event brings its own.
    pub id: EventId,
    /// The time of publishing.
    pub now: Timestamp,
}

/// What can be published: an event, or a builder that makes one by the outbox's rules.
pub trait IntoEvent {
    /// Makes the event, or says everything that is wrong with it.
    fn into_event(self, rules: &EventRules, stamp: Stamp) -> Result<Event>;
}

impl IntoEvent for EventBuilder {
    fn into_event(self, rules: &EventRules, stamp: Stamp) -> Result<Event> {
        self.build(rules, stamp)
    }
}

impl IntoEvent for Event {
    fn into_event(self, rules: &EventRules, _: Stamp) -> Result<Event> {
        rules.check(&self)?;
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
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
