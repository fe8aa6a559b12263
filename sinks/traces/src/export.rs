//! Spans on their way out: a bounded queue, and a task that sends what is in it, some at a time. Nobody who puts a span in waits.

use std::{sync::Arc, time::Duration};

use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::trace::{SpanData, SpanExporter as _};
use posthaste_core::{Error, Result, Sink};
use tokio::{
    sync::mpsc::{self, Receiver, Sender, WeakSender},
    task::JoinSet,
    time::timeout,
};
use tracing::{info, warn};

use crate::{
    loss::Loss, post::poster, settings::Settings, sink::TracedSink, span::Labels, traceparent::Traceparent,
};

/// The most spans that wait to be sent. None is larger than a few KiB, because texts are cut.
const ROOM: usize = 8_192;
/// The most spans of one request.
const BATCH: usize = 1_024;
/// How long a span waits for company.
const COMPANY: Duration = Duration::from_secs(1);
/// How long stopping may take.
const FLUSH_TIME: Duration = Duration::from_secs(3);

/// Sends spans until it is stopped.
pub struct Traces {
    /// The only one that keeps the queue open.
    spans: Sender<SpanData>,
    ratio: f64,
    loss: Arc<Loss>,
    task: JoinSet<()>,
}

impl Traces {
    /// Begins to send. Whether the collector answers is not tried; an address or a header that is none is refused.
    pub fn start(settings: &Settings) -> Result<Self> {
        let address = settings.address()?;
        let place = address.authority().map_or("", |authority| authority.as_str());
        // Without a password before it.
        let collector = place.rsplit('@').next().unwrap_or_default().to_owned();
        info!(collector, ratio = settings.sampling_ratio, "sending traces");
        let loss = Arc::new(Loss::new(collector));
        let mut exporter = SpanExporter::builder()
            .with_http()
            .with_shared_http_client(poster(&address, settings, Arc::clone(&loss))?)
            .with_endpoint(address.to_string())
            .with_protocol(Protocol::HttpBinary)
            .build()
            .map_err(|error| {
                Error::invalid("traces cannot be sent; change or unset the OTEL_… variables")
                    .with_source(error)
            })?;
        exporter.set_resource(&settings.resource());
        let (spans, queue) = mpsc::channel(ROOM);
        let mut task = JoinSet::new();
        task.spawn(send(queue, exporter, Arc::clone(&loss)));
        Ok(Self { spans, ratio: settings.sampling_ratio, loss, task })
    }

    /// The sink with spans for its deliveries.
    pub fn around(&self, sink: Arc<dyn Sink>, labels: Labels) -> Arc<dyn Sink> {
        let recorder =
            Recorder { spans: self.spans.downgrade(), ratio: self.ratio, loss: Arc::clone(&self.loss) };
        Arc::new(TracedSink::new(sink, labels, recorder))
    }

    /// Sends what is left, if that takes no longer than a few seconds. What is delivered later has no span.
    pub async fn stop(self) {
        let Self { spans, loss, mut task, .. } = self;
        drop(spans);
        if timeout(FLUSH_TIME, task.join_next()).await.is_err() {
            warn!("the last traces could not be sent in {FLUSH_TIME:?} and are dropped");
        }
        if loss.dropped() > 0 {
            warn!(dropped = loss.dropped(), "some traces could not be sent");
        }
    }
}

/// Where spans are put when they have ended.
pub(crate) struct Recorder {
    spans: WeakSender<SpanData>,
    ratio: f64,
    loss: Arc<Loss>,
}

impl Recorder {
    /// Whether spans of this trace are sent.
    pub(crate) fn wants(&self, parent: Traceparent) -> bool {
        parent.is_within(self.ratio)
    }

    /// Never waits.
    pub(crate) fn record(&self, spans: impl Iterator<Item = SpanData>) {
        let Some(queue) = self.spans.upgrade() else { return };
        let mut dropped = 0;
        for span in spans {
            dropped += usize::from(queue.try_send(span).is_err());
        }
        if dropped > 0 {
            self.loss.no_room(dropped);
        }
    }
}

/// Sends what comes until nothing more can come.
async fn send(mut queue: Receiver<SpanData>, exporter: SpanExporter, loss: Arc<Loss>) {
    loop {
        let batch = gather(&mut queue).await;
        let spans = batch.len();
        if spans == 0 {
            return;
        }
        // Why it failed is said where that is known.
        if exporter.export(batch).await.is_err() {
            loss.in_vain(spans);
        }
    }
}

/// The next batch: waits for a first span, and then a while for more. Empty when none can come.
async fn gather(queue: &mut Receiver<SpanData>) -> Vec<SpanData> {
    let mut batch = Vec::new();
    queue.recv_many(&mut batch, BATCH).await;
    let company = async {
        while let room @ 1.. = BATCH - batch.len()
            && queue.recv_many(&mut batch, room).await > 0
        {}
    };
    // What has come by then is enough.
    _ = timeout(COMPANY, company).await;
    batch
}
