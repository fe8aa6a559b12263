//! What an outbox asks of every event, and how it fills in what the caller left out.

use super::{Event, EventBuilder};
use crate::{Error, EventId, Result, Timestamp};

/// The largest payload an outbox takes unless it is configured otherwise: 1 MiB.
pub const DEFAULT_PAYLOAD_LIMIT: usize = 1_048_576;

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

/// What is wrong with a payload of so many bytes. A log says it of a row that it does not load for that reason.
#[must_use]
pub fn oversized(bytes: usize, limit: usize) -> String {
    format!(
        "the payload has {bytes} bytes, and {limit} are allowed; store the large part elsewhere and publish a reference, \
         or raise the payload limit"
    )
}

impl EventRules {
    pub(super) fn check(&self, event: &Event) -> Result<()> {
        if event.payload.len() > self.payload_limit {
            return Err(Error::invalid(format!(
                "event {:?} cannot be published: {}",
                event.event_type,
                oversized(event.payload.len(), self.payload_limit)
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

    pub(super) fn derive(&self, event_type: &str, aggregate_type: Option<&str>) -> Result<String> {
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
