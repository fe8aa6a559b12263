//! `sink.kafka`: topics of Apache Kafka.

use std::{path::PathBuf, time::Duration};

use posthaste_envelope::{Format, TopicTemplate};
use posthaste_kafka::{Compression, KafkaOptions, Sasl, SaslMechanism, Secret, Tls, UnknownTopic};

use crate::{
    destination::{Destination, read_source},
    kind::{self, Kind},
    section::Section,
};

const FORMATS: [(&str, Format); 4] = [
    ("posthaste", Format::Posthaste),
    ("cloudevents", Format::CloudEventsStructured),
    ("cloudevents_binary", Format::CloudEventsBinary),
    ("raw", Format::Raw),
];
const UNKNOWN_TOPICS: [(&str, UnknownTopic); 2] =
    [("wait", UnknownTopic::Wait), ("dead", UnknownTopic::Dead)];
const COMPRESSIONS: [(&str, Compression); 5] = [
    ("none", Compression::None),
    ("lz4", Compression::Lz4),
    ("snappy", Compression::Snappy),
    ("zstd", Compression::Zstd),
    ("gzip", Compression::Gzip),
];
const MECHANISMS: [(&str, SaslMechanism); 3] = [
    ("PLAIN", SaslMechanism::Plain),
    ("SCRAM-SHA-256", SaslMechanism::ScramSha256),
    ("SCRAM-SHA-512", SaslMechanism::ScramSha512),
];

/// Reads `kafka`.
pub(crate) fn read(section: Section<'_>) -> Option<Destination> {
    let usual = KafkaOptions::new("");
    let second = Duration::from_secs(1);
    let brokers = section.required("brokers", &brokers());
    let topic = section.or("topic", &topic(), usual.topic);
    let options = KafkaOptions {
        // What is missing is noted; the rest is checked all the same.
        brokers: brokers.clone().unwrap_or_else(|| "missing:9092".to_owned()),
        topic,
        format: section.or("format", &kind::word(&FORMATS), usual.format),
        source: read_source(&section),
        unknown_topic: section.or("unknown_topic", &kind::word(&UNKNOWN_TOPICS), usual.unknown_topic),
        tombstones: section.or("tombstones", &kind::switch(), usual.tombstones),
        compression: section.or("compression", &kind::word(&COMPRESSIONS), usual.compression),
        linger: section.or("linger", &kind::time(Duration::ZERO..=second), usual.linger),
        timeout: section.or("timeout", &kind::time(second / 10..=300 * second), usual.timeout),
        message_max_bytes: section.or(
            "message_max_bytes",
            &kind::number(1_000..=100_000_000),
            usual.message_max_bytes,
        ),
        tls: section.section_if_written("tls").map(tls),
        sasl: section.section_if_written("sasl").and_then(sasl),
        extra: properties(&section),
    };
    agree(&section, &options);
    section.end();
    brokers.map(|_| Destination::Kafka(Box::new(options)))
}

fn tls(section: Section<'_>) -> Tls {
    let file = || kind::text("the path of a file in PEM");
    let path = |key| section.optional(key, &file()).map(PathBuf::from);
    let tls = Tls {
        ca: path("ca"),
        certificate: path("certificate"),
        key: path("key"),
        key_password: section
            .optional("key_password", &kind::secret("what the key is encrypted with"))
            .map(Secret::from),
    };
    section.end();
    tls
}

fn sasl(section: Section<'_>) -> Option<Sasl> {
    let mechanism = section.required("mechanism", &kind::word(&MECHANISMS));
    let user = section.required("user", &kind::text("a name"));
    let password = section.required(
        "password",
        &kind::secret("a password; better ${NAME} or file:PATH than the password itself"),
    );
    section.end();
    Some(Sasl { mechanism: mechanism?, user: user?, password: password?.into() })
}

/// Any of them may be a password, so that none is shown.
fn properties(section: &Section<'_>) -> std::collections::BTreeMap<String, Secret> {
    let kind = kind::secret(
        "properties of librdkafka, but for those that have a key here or that would break a promise",
    );
    section.pairs("properties", &kind).into_iter().map(|(name, value)| (name, value.into())).collect()
}

/// The sink itself knows best what it cannot work with.
fn agree(section: &Section<'_>, options: &KafkaOptions) {
    let Err(error) = options.validate() else { return };
    for problem in error.to_string().lines().filter_map(|line| line.strip_prefix("- ")) {
        // It calls properties by the name that they have for it.
        let problem = match problem.strip_prefix("kafka.") {
            Some(property) => format!("properties.{property}"),
            None => problem.to_owned(),
        };
        let end = problem.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(problem.len());
        section.problem_with(&problem[..end], &problem[end..]);
    }
}

fn brokers() -> Kind<String> {
    kind::text("host:port of some brokers, separated by commas")
}

fn topic() -> Kind<TopicTemplate> {
    let allowed = "a name, in which {topic}, {event_type}, {aggregate_type} and {tenant_id} may stand";
    Kind::new("text", allowed, |text| text.parse().map_err(|_| None), ToString::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_mean_what_the_sink_means_by_them() {
        assert!(
            FORMATS.iter().all(|(word, format)| word.parse::<Format>().is_ok_and(|parsed| parsed == *format))
        );
        assert!(
            UNKNOWN_TOPICS
                .iter()
                .all(|(word, value)| word.parse::<UnknownTopic>().is_ok_and(|parsed| parsed == *value))
        );
        assert!(
            COMPRESSIONS
                .iter()
                .all(|(word, value)| word.parse::<Compression>().is_ok_and(|parsed| parsed == *value))
        );
        assert!(
            MECHANISMS
                .iter()
                .all(|(word, value)| word.parse::<SaslMechanism>().is_ok_and(|parsed| parsed == *value))
        );
    }
}
