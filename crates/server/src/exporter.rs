//! Metrics for Prometheus: what the engine in this process counts, under its prefix.

use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle, PrometheusRecorder};
use posthaste::{Error, ErrorKind, Result, metric};

/// The bounds of the histograms, in seconds: from a delivery in the process to a broker that is down for a while.
pub(crate) const BUCKETS: [f64; 16] =
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0];

/// What `/metrics` answers, and what the live figures are made of.
#[derive(Clone)]
pub struct Exporter {
    handle: PrometheusHandle,
    pub(crate) prefix: String,
}

impl Exporter {
    /// Records what the whole process counts. To be called once, before a relay is started.
    pub fn install(prefix: &str) -> Result<Self> {
        let (recorder, exporter) = Self::new(prefix)?;
        metrics::set_global_recorder(recorder).map_err(|error| {
            Error::new(ErrorKind::Refused, "metrics are recorded already in this process")
                .with_source(error.to_string())
        })?;
        metric::describe(prefix);
        Ok(exporter)
    }

    /// The same for a recorder that the caller installs.
    pub fn new(prefix: &str) -> Result<(PrometheusRecorder, Self)> {
        let builder = PrometheusBuilder::new().set_buckets(&BUCKETS);
        let builder = builder.map_err(|error| {
            Error::new(ErrorKind::Unexpected, "the bounds of the histograms").with_source(error)
        })?;
        let recorder = builder.build_recorder();
        let exporter = Self { handle: recorder.handle(), prefix: prefix.to_owned() };
        Ok((recorder, exporter))
    }

    /// Everything, as Prometheus reads it.
    pub(crate) fn render(&self) -> String {
        // Histograms keep what was recorded until somebody asks, or this is called.
        self.handle.run_upkeep();
        self.handle.render()
    }
}
