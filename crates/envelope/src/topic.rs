//! Where a message goes: a fixed topic, the event's own, or one made of its parts.

use std::{borrow::Cow, fmt, str::FromStr};

use posthaste_core::{Error, Event, Fault, Result};

/// The topic of a message: text in which `{topic}`, `{event_type}`, `{aggregate_type}` and `{tenant_id}` are replaced.
///
/// Text without braces is a fixed topic; `{topic}`, the default, is the event's own.
///
/// ```
/// use posthaste_envelope::TopicTemplate;
///
/// let template: TopicTemplate = "shop.{aggregate_type}.events".parse()?;
/// assert!("shop.{tenant}".parse::<TopicTemplate>().is_err());
/// # drop(template);
/// # Ok::<(), posthaste_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicTemplate {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Value(Value),
}

/// What can stand in braces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    Topic,
    EventType,
    AggregateType,
    TenantId,
}

impl Value {
    const ALL: [Value; 4] = [Value::Topic, Value::EventType, Value::AggregateType, Value::TenantId];

    fn as_str(self) -> &'static str {
        match self {
            Value::Topic => "{topic}",
            Value::EventType => "{event_type}",
            Value::AggregateType => "{aggregate_type}",
            Value::TenantId => "{tenant_id}",
        }
    }

    fn of(self, event: &Event) -> Option<&str> {
        match self {
            Value::Topic => Some(&event.topic),
            Value::EventType => Some(&event.event_type),
            Value::AggregateType => event.aggregate_type.as_deref(),
            Value::TenantId => event.tenant_id.as_deref(),
        }
    }
}

impl TopicTemplate {
    /// The topic of this event. Fails for good if the template needs what the event does not have.
    pub fn topic<'a>(&'a self, event: &'a Event) -> Result<Cow<'a, str>, Fault> {
        if let [part] = self.parts.as_slice() {
            return self.fill(part, event).map(Cow::Borrowed);
        }
        let mut topic = String::new();
        for part in &self.parts {
            topic.push_str(self.fill(part, event)?);
        }
        Ok(Cow::Owned(topic))
    }

    /// The topic of every event, if they all have the same.
    pub fn fixed(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Part::Text(text)] => Some(text),
            _ => None,
        }
    }

    fn fill<'a>(&self, part: &'a Part, event: &'a Event) -> Result<&'a str, Fault> {
        match part {
            Part::Text(text) => Ok(text),
            Part::Value(value) => value.of(event).filter(|text| !text.is_empty()).ok_or_else(|| {
                Fault::permanent(format!(
                    "the topic {self} needs {value}, and event {:?} has none",
                    event.event_type,
                    value = value.as_str()
                ))
            }),
        }
    }
}

impl Default for TopicTemplate {
    fn default() -> Self {
        Self { parts: vec![Part::Value(Value::Topic)] }
    }
}

impl FromStr for TopicTemplate {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut parts = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let value = Value::ALL.into_iter().find(|value| rest.starts_with(value.as_str()));
            let (part, length) = match value {
                Some(value) => (Part::Value(value), value.as_str().len()),
                None if rest.starts_with(['{', '}']) => return Err(not_understood(text)),
                None => {
                    let length = rest.find(['{', '}']).unwrap_or(rest.len());
                    (Part::Text(rest[..length].to_owned()), length)
                }
            };
            parts.push(part);
            rest = &rest[length..];
        }
        if parts.is_empty() { Err(not_understood(text)) } else { Ok(Self { parts }) }
    }
}

fn not_understood(text: &str) -> Error {
    let allowed = Value::ALL.map(Value::as_str).join(", ");
    Error::invalid(format!("topic {text:?} is not understood; write a name, in which {allowed} may stand"))
}

impl fmt::Display for TopicTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.parts.iter().try_for_each(|part| match part {
            Part::Text(text) => f.write_str(text),
            Part::Value(value) => f.write_str(value.as_str()),
        })
    }
}

#[cfg(test)]
mod tests {
    use posthaste_core::{EventBuilder, EventId, EventRules, FaultKind, Stamp, Timestamp};

    use super::*;

    fn event(draft: EventBuilder) -> Event {
        let stamp = Stamp { id: EventId::from_bytes([0; 16]), now: Timestamp(0) };
        draft.json(&1).unwrap().build(&EventRules::default(), stamp).unwrap()
    }

    fn topic(template: &str, event: &Event) -> Result<String, Fault> {
        template.parse::<TopicTemplate>().unwrap().topic(event).map(Cow::into_owned)
    }

    #[test]
    fn a_topic_is_fixed_the_events_own_or_made_of_its_parts() {
        let event = event(Event::of("placed").topic("orders").aggregate("order", 7).tenant("acme"));
        let cases = [
            ("all-events", "all-events"),
            ("{topic}", "orders"),
            ("{event_type}", "placed"),
            ("{tenant_id}.{aggregate_type}.{event_type}.v1", "acme.order.placed.v1"),
            ("prod-{topic}", "prod-orders"),
        ];
        for (template, expected) in cases {
            assert_eq!(topic(template, &event).unwrap(), expected);
            assert_eq!(template.parse::<TopicTemplate>().unwrap().to_string(), template);
        }
        assert_eq!(TopicTemplate::default(), "{topic}".parse().unwrap());
        assert_eq!("all-events".parse::<TopicTemplate>().unwrap().fixed(), Some("all-events"));
        assert_eq!("prod-{topic}".parse::<TopicTemplate>().unwrap().fixed(), None);
    }

    #[test]
    fn what_cannot_be_a_topic_is_refused_when_it_is_configured() {
        for bad in ["", "{tenant}", "a{", "a}", "{topic", "{{topic}}", "{Topic}"] {
            let error = bad.parse::<TopicTemplate>().unwrap_err().to_string();
            assert!(error.contains("{topic}, {event_type}, {aggregate_type}, {tenant_id}"), "{error}");
        }
    }

    #[test]
    fn an_event_without_what_the_topic_needs_fails_for_good() {
        let bare = event(Event::of("placed"));

        for (template, missing) in
            [("x.{tenant_id}", "{tenant_id}"), ("{aggregate_type}", "{aggregate_type}")]
        {
            let fault = topic(template, &bare).unwrap_err();
            assert_eq!(fault.kind, FaultKind::Permanent);
            assert!(fault.message.contains(missing) && fault.message.contains("placed"), "{fault}");
        }
    }
}
