//! Putting an event together.

use std::{borrow::Cow, collections::BTreeMap, time::Duration};

use serde::Serialize;

use super::{DEFAULT_EVENT_VERSION, Event, EventRules, Payload, Stamp};
use crate::{AggregateType, Error, EventId, Result, RetryOverrides, Timestamp};

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
    pub(super) fn new(event_type: Cow<'static, str>) -> Self {
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
        let mut problems: Vec<Cow<'static, str>> = Vec::new();
        if self.event_type.is_empty() {
            problems.push("the event type is empty".into());
        }
        match self.payloads.len() {
            0 => problems.push("it has no payload; call json(…) or bytes(…)".into()),
            1 => {}
            _ => {
                problems.push("it has more than one payload; call json(…) or bytes(…), and only once".into())
            }
        }
        if self.draw_version && self.version.is_some() {
            problems.push("version(…) and next_version() exclude each other".into());
        }
        if self.draw_version && self.aggregate_id.is_none() {
            problems.push("next_version() needs an aggregate".into());
        }
        if self.deliver_after.is_some() && self.delay.is_some() {
            problems.push("deliver_after(…) and deliver_in(…) exclude each other".into());
        }
        problems.extend(self.retry.problems().into_iter().map(|problem| format!("retry.{problem}").into()));
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
