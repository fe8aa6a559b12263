//! What a span says of a delivery. Names of attributes are those of OpenTelemetry's conventions for messaging, and ours begin with
//! `posthaste.`.

use std::{str::FromStr, time::SystemTime};

use opentelemetry::{
    InstrumentationScope, KeyValue, SpanId, TraceFlags, TraceId,
    trace::{SpanContext, SpanKind, Status, TraceState},
};
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanLinks};
use posthaste_core::{Entry, Fault, FaultKind, Timestamp};
use posthaste_envelope::TopicTemplate;

use crate::traceparent::{TRACESTATE, Traceparent, header};

/// What all spans of a subscription say.
#[derive(Clone, Debug, Default)]
pub struct Labels {
    /// The subscription.
    pub subscription: String,
    /// Its destination, as people know it.
    pub sink: String,
    /// What kind of destination it is, such as `kafka`.
    pub system: String,
    /// Where events go there; their own topic unless told otherwise.
    pub topic: TopicTemplate,
}

/// What became of an attempt.
#[derive(Clone, Copy)]
pub(crate) enum End<'a> {
    Delivered,
    Failed(&'a Fault),
    /// Whoever waited for the sink stopped waiting: it hangs, or it panicked.
    NoAnswer,
}

/// The span of an attempt: whose child it is, and its own id.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Begun {
    /// The entry's place in its batch.
    pub(crate) index: usize,
    pub(crate) parent: Traceparent,
    pub(crate) id: u64,
}

/// Makes the spans of one subscription.
pub(crate) struct Maker {
    topic: TopicTemplate,
    /// What all of them say.
    attributes: Vec<KeyValue>,
    scope: InstrumentationScope,
}

/// Longer texts are cut, so that spans that wait take a bounded room. (No `tracestate` needs to be longer.)
const LONGEST_TEXT: usize = 512;

impl Maker {
    pub(crate) fn new(labels: Labels) -> Self {
        let shared = |text: String| std::sync::Arc::<str>::from(text);
        let attributes = vec![
            KeyValue::new("messaging.operation.name", "deliver"),
            KeyValue::new("messaging.operation.type", "send"),
            KeyValue::new("messaging.system", shared(labels.system)),
            KeyValue::new("posthaste.sink", shared(labels.sink)),
            KeyValue::new("posthaste.subscription", shared(labels.subscription)),
        ];
        let scope =
            InstrumentationScope::builder("posthaste").with_version(env!("CARGO_PKG_VERSION")).build();
        Self { topic: labels.topic, attributes, scope }
    }

    pub(crate) fn span(
        &self,
        entry: &Entry,
        begun: Begun,
        (begin, end): (Timestamp, Timestamp),
        came_to: End<'_>,
    ) -> SpanData {
        let event = &entry.event;
        let topic = self.topic.topic(event).map_or_else(|_| cut(&event.topic), |topic| cut(&topic));
        let state = header(event, TRACESTATE).filter(|state| state.len() <= LONGEST_TEXT);
        let state = state.and_then(|state| TraceState::from_str(state).ok());
        let Traceparent { trace, span, .. } = begun.parent;
        SpanData {
            span_context: SpanContext::new(
                TraceId::from_bytes(trace.to_be_bytes()),
                SpanId::from_bytes(begun.id.to_be_bytes()),
                TraceFlags::new(begun.parent.flags()),
                false,
                state.unwrap_or_default(),
            ),
            parent_span_id: SpanId::from_bytes(span.to_be_bytes()),
            parent_span_is_remote: true,
            span_kind: SpanKind::Producer,
            name: format!("deliver {topic}").into(),
            start_time: SystemTime::from(begin),
            end_time: SystemTime::from(end),
            attributes: self.attributes(entry, topic, came_to),
            dropped_attributes_count: 0,
            events: SpanEvents::default(),
            links: SpanLinks::default(),
            status: status(came_to),
            instrumentation_scope: self.scope.clone(),
        }
    }

    fn attributes(&self, entry: &Entry, topic: String, came_to: End<'_>) -> Vec<KeyValue> {
        let event = &entry.event;
        let mut attributes = Vec::with_capacity(self.attributes.len() + 7);
        attributes.extend_from_slice(&self.attributes);
        attributes.extend([
            KeyValue::new("messaging.destination.name", topic),
            KeyValue::new("messaging.message.id", event.id.to_string()),
            KeyValue::new("posthaste.event_type", cut(&event.event_type)),
            KeyValue::new("posthaste.position", entry.position.0),
            KeyValue::new("posthaste.attempt", i64::from(entry.attempts) + 1),
        ]);
        let (delivery, error) = match came_to {
            End::Delivered => ("delivered", None),
            End::Failed(fault) => ("failed", Some(word(fault.kind))),
            End::NoAnswer => ("failed", Some("no_answer")),
        };
        attributes.push(KeyValue::new("posthaste.delivery", delivery));
        attributes.extend(error.map(|error| KeyValue::new("error.type", error)));
        attributes
    }
}

/// The fault's class.
fn word(kind: FaultKind) -> &'static str {
    match kind {
        FaultKind::Unavailable => "unavailable",
        FaultKind::Throttled { .. } => "throttled",
        FaultKind::Transient => "transient",
        FaultKind::Permanent => "permanent",
    }
}

fn status(came_to: End<'_>) -> Status {
    match came_to {
        // That all is well is for applications to say.
        End::Delivered => Status::Unset,
        End::Failed(fault) => Status::error(cut(&fault.message)),
        End::NoAnswer => Status::error("the sink did not answer in its time"),
    }
}

fn cut(text: &str) -> String {
    text.chars().take(LONGEST_TEXT).collect()
}
