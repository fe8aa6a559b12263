//! A step around a sink: the trace of an event's publisher goes on in its delivery, and from there to the consumer.
//!
//! An event whose header `traceparent` (W3C Trace Context) says that it is sampled gets a span for each attempt to deliver it, as a
//! child of the publisher's. What the sink sends names that span in its place, so that the consumer's span is a child of the
//! delivery's. `tracestate` is passed on as it is. An event without the header, with a broken one, or one that is not sampled, is
//! passed on as it is, and has no span.
//!
//! ```
//! # async fn example(sink: std::sync::Arc<dyn posthaste_core::Sink>) -> posthaste_core::Result<()> {
//! use posthaste_traces::{Labels, Settings, Traces};
//!
//! let endpoint = Some("http://localhost:4318".to_owned());
//! let traces = Traces::start(&Settings { endpoint, ..Settings::default() })?;
//! let labels = Labels { subscription: "orders".to_owned(), system: "kafka".to_owned(), ..Labels::default() };
//! let sink = traces.around(sink, labels);
//! // … a relay delivers to it …
//! traces.stop().await;
//! # Ok(())
//! # }
//! ```
//!
//! Spans are sent in the background, by OTLP over HTTP. **Nothing waits for them**: what finds no room in a bounded queue is dropped,
//! and a collector that is away is said once, and once more when it is back.
//!
//! Deliberately absent: a global tracer, and spans of anything but deliveries. Where a trace begins is the publisher's to say.

mod export;
mod loss;
mod post;
mod settings;
mod sink;
mod span;
mod traceparent;

pub use self::{export::Traces, settings::Settings, sink::TracedSink, span::Labels};
