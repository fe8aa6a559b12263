//! Traces of deliveries, as the file asks for them.

use std::sync::Arc;

use posthaste::{Result, Sink};
use posthaste_config::{Destination, Served};
use posthaste_traces::{Labels, Settings, Traces};

use super::job::Job;

/// Sends traces until it is stopped.
pub(super) struct Tracing(Traces);

impl Tracing {
    /// Begins to send, if that is configured.
    pub(super) fn start(job: &Job) -> Result<Option<Self>> {
        let Some(config) = job.config.as_ref().and_then(|config| config.traces.as_ref()) else {
            return Ok(None);
        };
        let settings = Settings {
            endpoint: config.endpoint.clone(),
            headers: config.headers.clone(),
            service_name: config.service_name.clone(),
            sampling_ratio: config.sampling_ratio,
        };
        Traces::start(&settings).map(|traces| Some(Self(traces)))
    }

    /// The sink of a subscription, with spans for its deliveries.
    pub(super) fn around(&self, sink: Arc<dyn Sink>, served: &Served) -> Arc<dyn Sink> {
        self.0.around(sink, labels(served))
    }

    /// Sends what is left, for a few seconds at most.
    pub(super) async fn stop(self) {
        self.0.stop().await;
    }
}

fn labels(served: &Served) -> Labels {
    let labels = Labels {
        subscription: served.subscription.name.clone(),
        sink: served.destination.to_string(),
        ..Labels::default()
    };
    match &served.destination {
        Destination::Kafka(options) => {
            Labels { system: "kafka".to_owned(), topic: options.topic.clone(), ..labels }
        }
        Destination::Stdout { .. } => Labels { system: "stdout".to_owned(), ..labels },
        Destination::File { .. } => Labels { system: "file".to_owned(), ..labels },
    }
}
