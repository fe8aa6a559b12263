//! The faults of traces: of who gets a span, and of whose child a consumer's is.

use super::{
    Fault,
    catcher::{Catcher, some_tests},
};

const SINK: &str = "sinks/traces/src/sink.rs";
const DELIVERING: Catcher = some_tests("posthaste-traces", "--test traces -- delivering");

/// All faults of traces.
pub(crate) const FAULTS: &[Fault] = &[
    Fault {
        name: "traces-consumer-does-not-know-the-delivery",
        breaks: "the consumer's span is not a child of the delivery's",
        file: SINK,
        find: "span.parent.with_span(span.id)",
        replace: "span.parent",
        caught_by: &[DELIVERING],
    },
    Fault {
        name: "traces-unsampled-have-spans",
        breaks: "what its publisher did not sample is traced all the same",
        file: SINK,
        find: "parent.is_sampled() && self.recorder.wants(parent)",
        replace: "self.recorder.wants(parent)",
        caught_by: &[DELIVERING],
    },
    Fault {
        name: "traces-forget-what-was-cut-off",
        breaks: "an attempt that was cut off leaves no span",
        file: SINK,
        find: "if !self.begun.is_empty() {",
        replace: "if self.begun.is_empty() {",
        caught_by: &[DELIVERING],
    },
];
