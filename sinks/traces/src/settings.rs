//! Where traces go, and whose they are.

use hyper::Uri;
use opentelemetry::KeyValue;
use opentelemetry_otlp::{OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT};
use opentelemetry_sdk::{
    Resource,
    resource::{EnvResourceDetector, TelemetryResourceDetector},
};
use posthaste_core::{Error, Result};

/// Where traces go, and whose they are. What is not said here is as the variables of OpenTelemetry (`OTEL_…`) say.
#[derive(Clone)]
pub struct Settings {
    /// The address of the collector, to which `/v1/traces` is added; else `OTEL_EXPORTER_OTLP_ENDPOINT`, or the usual port on this machine.
    pub endpoint: Option<String>,
    /// What requests have besides: a key of whoever takes the traces, say. Never shown.
    pub headers: Vec<(String, String)>,
    /// Under which name spans are found; else `OTEL_SERVICE_NAME`, or `posthaste`.
    pub service_name: Option<String>,
    /// Which share of the sampled traces gets spans, from 0 to 1.
    pub sampling_ratio: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { endpoint: None, headers: Vec::new(), service_name: None, sampling_ratio: 1.0 }
    }
}

impl Settings {
    /// Where spans are posted to.
    pub(crate) fn address(&self) -> Result<Uri> {
        address(self.endpoint.as_deref(), variable)
    }

    /// Whose the spans are.
    pub(crate) fn resource(&self) -> Resource {
        let resource = Resource::builder_empty()
            .with_service_name("posthaste")
            .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
            .with_detectors(&[Box::new(TelemetryResourceDetector), Box::new(EnvResourceDetector::new())]);
        match self.service_name.clone().or_else(|| variable("OTEL_SERVICE_NAME")) {
            Some(name) => resource.with_service_name(name).build(),
            None => resource.build(),
        }
    }
}

/// An empty variable counts as not set.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// As the standard says: an address for all signals gets the path of this one, an address for traces is taken as it is.
fn address(given: Option<&str>, variable: impl Fn(&str) -> Option<String>) -> Result<Uri> {
    const USUAL: &str = "http://localhost:4318";
    let with_path = |address: &str| format!("{}/v1/traces", address.trim_end_matches('/'));
    let (name, address) = if let Some(given) = given {
        ("the endpoint", with_path(given))
    } else if let Some(found) = variable(OTEL_EXPORTER_OTLP_TRACES_ENDPOINT) {
        (OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, found)
    } else {
        let found = variable(OTEL_EXPORTER_OTLP_ENDPOINT);
        (OTEL_EXPORTER_OTLP_ENDPOINT, with_path(found.as_deref().unwrap_or(USUAL)))
    };
    let is_good = |uri: &Uri| matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some();
    // Not shown, because people write passwords into addresses.
    address.parse().ok().filter(is_good).ok_or_else(|| {
        Error::invalid(format!(
            "traces cannot be sent: {name} is no address; allowed is http:// or https:// and a host, such as {USUAL}"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(given: Option<&str>, variables: &[(&str, &str)]) -> Result<String> {
        let set = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        address(given, set).map(|uri| uri.to_string())
    }

    #[test]
    fn the_address_is_the_files_or_that_of_the_standard_variables() {
        let all = (OTEL_EXPORTER_OTLP_ENDPOINT, "https://all:1/x");
        let traces = (OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, "http://traces/as/it/is");
        for (given, variables, expected) in [
            (None, &[][..], "http://localhost:4318/v1/traces"),
            (None, &[all], "https://all:1/x/v1/traces"),
            (None, &[all, traces], "http://traces/as/it/is"),
            (Some("http://here:4318/"), &[all, traces], "http://here:4318/v1/traces"),
        ] {
            assert_eq!(found(given, variables).unwrap(), expected);
        }
    }

    #[test]
    fn what_is_no_address_is_refused_by_the_name_of_who_said_it_and_not_shown() {
        for bad in ["hunter2", "grpc://hunter2:4317", "http://", "http://a b"] {
            let error = found(None, &[(OTEL_EXPORTER_OTLP_ENDPOINT, bad)]).unwrap_err().to_string();
            assert!(error.contains(OTEL_EXPORTER_OTLP_ENDPOINT) && !error.contains("hunter2"), "{error}");
        }
        assert!(found(Some("collector"), &[]).is_err());
    }

    #[test]
    fn whose_they_are_is_said_in_the_file_or_is_the_program() {
        let name = |settings: Settings| settings.resource().get(&"service.name".into()).unwrap().to_string();
        assert_eq!(name(Settings { service_name: Some("shop".to_owned()), ..Settings::default() }), "shop");
        assert_eq!(name(Settings::default()), "posthaste");
    }
}
