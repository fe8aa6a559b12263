//! `traces`: where the traces of deliveries go. Nothing is traced unless the section is written.

use std::fmt;

use crate::{
    kind::{self, Kind},
    section::Section,
};

/// What `traces` says. What it does not say is for the variables of OpenTelemetry (`OTEL_…`) to say.
#[derive(Clone)]
pub struct Traces {
    /// The address of the collector.
    pub endpoint: Option<String>,
    /// What requests to it have besides.
    pub headers: Vec<(String, String)>,
    /// Under which name the relay's spans are found.
    pub service_name: Option<String>,
    /// Which share of the sampled traces gets spans.
    pub sampling_ratio: f64,
}

impl fmt::Debug for Traces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Traces").finish_non_exhaustive()
    }
}

/// Reads `traces`.
pub(crate) fn read(section: Section<'_>) -> Traces {
    let traces = Traces {
        endpoint: section.optional("endpoint", &kind::url("http://localhost:4318")),
        headers: section.pairs("headers", &header()),
        service_name: section.optional("service_name", &kind::text("a name")),
        sampling_ratio: section.or("sampling_ratio", &kind::fraction(0.0..=1.0), 1.0),
    };
    for (name, _) in traces.headers.iter().filter(|(name, _)| !is_name(name)) {
        let text = format!(
            " has {}, which is no name of a header; allowed are letters, digits and hyphens",
            kind::plain(name)
        );
        section.problem_with("headers", &text);
    }
    section.end();
    traces
}

/// Any of them may be a key, so that none is shown.
fn header() -> Kind<String> {
    kind::secret("headers of HTTP, each a name with a value of visible characters")
        .that(|text| text.chars().all(|c| (' '..='~').contains(&c)))
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
}
