//! `traces`: nothing unless written, and no header is ever shown.

use std::collections::HashMap;

use posthaste_config::Config;

use crate::fixture::{Made, around, check, parse};

#[test]
fn nothing_is_traced_unless_it_is_written_and_then_the_standard_variables_say_where() {
    assert!(parse(&around("")).traces.is_none());
    let traces = parse(&around("traces: {}")).traces.unwrap();
    assert_eq!((traces.endpoint, traces.service_name, traces.sampling_ratio), (None, None, 1.0));
}

#[test]
fn what_is_written_counts_and_headers_are_not_shown() {
    let made = Made(HashMap::from([("POSTHASTE_TRACES_SERVICE_NAME", "shop-outbox"), ("/key", "hunter2\n")]));
    let text = "traces:
  endpoint: https://ada:hunter2@collector.example/otlp
  headers: { Authorization: Bearer hunter2, x-key: file:/key }
  sampling_ratio: 0.25";
    let config = Config::parse(&around(text), &made).unwrap();
    let traces = config.traces.as_ref().unwrap();

    assert_eq!((traces.service_name.as_deref(), traces.sampling_ratio), (Some("shop-outbox"), 0.25));
    let headers = [("Authorization", "Bearer hunter2"), ("x-key", "hunter2")];
    assert_eq!(traces.headers, headers.map(|(name, value)| (name.to_owned(), value.to_owned())));
    let shown = format!("{}{config:?}{traces:?}", config.show());
    assert!(!shown.contains("hunter2") && shown.contains("collector.example"), "{shown}");
}

#[test]
fn what_is_wrong_is_said_without_what_may_be_a_key() {
    check(
        "traces:
  endpoint: collector:4318
  headers: { 'a b': hunter2, x: 'hunter2é' }
  sampling_ratio: 25",
        &[
            "line 2: traces.endpoint is collector:4318; allowed is an address, such as http://localhost:4318",
            "line 3: traces.headers.x is ***; allowed is headers of HTTP, each a name with a value of visible characters",
            "line 3: traces.headers has \"a b\", which is no name of a header; allowed are letters, digits and hyphens",
            "line 4: traces.sampling_ratio is 25; allowed is a number from 0.0 to 1.0",
        ],
    );
}
