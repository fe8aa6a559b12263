//! The faults of the Kafka sink and of the envelope: of what counts as delivered, of order, and of what leaves the client when.

use super::{
    Fault,
    catcher::{Catcher, some_tests},
};

const FAULT: &str = "sinks/kafka/src/fault.rs";
const ROUTES: &str = "sinks/kafka/src/routes.rs";

/// What shows without a broker.
const PURE: Catcher = some("--lib");

/// Some tests of the sink, by the beginning of their names.
const fn some(which: &'static str) -> Catcher {
    some_tests("posthaste-kafka", which)
}

/// All faults of the Kafka sink and of the envelope.
pub(crate) const FAULTS: &[Fault] = &[
    Fault {
        name: "kafka-no-answer-is-a-delivery",
        breaks: "a record of which nothing is known counts as delivered (rule 6)",
        file: FAULT,
        find: "Receipt::Pending => return Verdict::Unknown,",
        replace: "Receipt::Pending => return Verdict::Delivered,",
        caught_by: &[PURE],
    },
    Fault {
        name: "kafka-unknown-topic-is-for-good",
        breaks: "events die because their topic is not there yet (rule 7)",
        file: FAULT,
        find: "UnknownTopic::Wait => Fault::unavailable(text),",
        replace: "UnknownTopic::Wait => Fault::permanent(text),",
        caught_by: &[PURE],
    },
    Fault {
        name: "kafka-company-of-the-culprit-is-to-blame",
        breaks: "all that shared a request with a refused record die with it",
        file: FAULT,
        find: "_ if way == Way::Together && is_of_one_record(code) => Verdict::Suspect,",
        replace: "_ if way == Way::Together && is_of_one_record(code) => Verdict::Failed(fault(code, topic, unknown_topic)),",
        caught_by: &[PURE],
    },
    Fault {
        name: "kafka-failed-key-goes-on",
        breaks: "what is behind a failed record of its key is sent all the same (rule 5)",
        file: "sinks/kafka/src/tally.rs",
        find: "self.troubled && self.batch[index].event.key.as_deref().is_some_and(halted_at)",
        replace: "!self.troubled && self.batch[index].event.key.as_deref().is_some_and(halted_at)",
        caught_by: &[PURE],
    },
    Fault {
        name: "kafka-many-of-a-key-under-way-at-first",
        breaks: "a broker that does not count yet takes what is behind a refused record (rule 5)",
        file: ROUTES,
        find: "Some(_) if one_topic && is_warm => true,",
        replace: "Some(_) if one_topic => true,",
        caught_by: &[PURE],
    },
    Fault {
        name: "kafka-one-key-to-many-topics-at-once",
        breaks: "one topic takes what is behind a record that another one refuses (rule 5)",
        file: ROUTES,
        find: "let goes = is_warm && *before.get() == Some(route);",
        replace: "let goes = is_warm && before.get().is_some();",
        caught_by: &[PURE],
    },
    Fault {
        name: "kafka-answer-to-somebody-else",
        breaks: "a late answer is taken for that of a record of another batch (rule 6)",
        file: "sinks/kafka/src/receipts.rs",
        find: "        if wave.missing == 0 {\n            slots.release(place.slot);\n        }\n        receipts",
        replace: "        slots.release(place.slot);\n        receipts",
        caught_by: &[PURE],
    },
    Fault {
        name: "kafka-gap-is-mended",
        breaks: "the client sends on behind a record that the broker refused (rule 5)",
        file: "sinks/kafka/src/producers.rs",
        find: "config.set(\"enable.gapless.guarantee\", \"true\");",
        replace: "config.set(\"enable.gapless.guarantee\", \"false\");",
        caught_by: &[some("--test kafka -- refusals::nothing_passes")],
    },
    Fault {
        name: "kafka-late-batch-stays-in-the-queue",
        breaks: "what is queued when the time of a batch is over is sent later, a second time (rule 3)",
        file: "sinks/kafka/src/wave.rs",
        find: "if end != End::Complete {",
        replace: "if end != End::Complete && end != End::Late {",
        caught_by: &[some("--test kafka -- mock::replicas")],
    },
    Fault {
        name: "kafka-given-up-batch-stays-in-the-queue",
        breaks: "what nobody waits for any more is sent when the broker is back (rule 3)",
        file: "sinks/kafka/src/wave.rs",
        find: "if !self.ended {",
        replace: "if self.ended {",
        caught_by: &[some("--test kafka -- pitfalls::a_client")],
    },
    Fault {
        name: "kafka-ping-is-always-well",
        breaks: "an outage is over before it is (rule 7)",
        file: "sinks/kafka/src/sink.rs",
        find: "match self.ask(asked.as_deref(), PING_LIMIT).await? {",
        replace: "match self.ask(asked.as_deref(), PING_LIMIT).await.or(Ok::<_, Fault>(Err(RDKafkaErrorCode::NoError)))? {",
        caught_by: &[some("--test kafka -- mock::a_broker_that_is_down")],
    },
    Fault {
        name: "envelope-a-number-is-in-no-place",
        breaks: "of an event whose metadata is no object nobody learns the number",
        file: "crates/envelope/src/object.rs",
        find: "told = Told::Id;",
        replace: "told = Told::Everything;",
        caught_by: &[some_tests("posthaste-envelope", "--test envelope")],
    },
    Fault {
        name: "envelope-tombstone-is-a-text",
        breaks: "a key that was to be deleted in a compacted topic gets the text null",
        file: "crates/envelope/src/envelope.rs",
        find: "if self.tombstones && is_tombstone(event) {",
        replace: "if self.tombstones && event.key.is_none() && is_tombstone(event) {",
        caught_by: &[some_tests("posthaste-envelope", "--test envelope")],
    },
];
