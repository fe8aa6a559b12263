//! Options: what is wrong is said at once and in full, and what is secret is never said.

use std::time::Duration;

use posthaste_envelope::Format;
use posthaste_kafka::{KafkaOptions, KafkaSink, Sasl, SaslMechanism, Tls};

fn refusal(options: &KafkaOptions) -> String {
    KafkaSink::new(options).unwrap_err().chain()
}

#[test]
fn everything_that_is_wrong_is_said_at_once() {
    let mut options = KafkaOptions {
        linger: Duration::from_secs(5),
        timeout: Duration::from_millis(1),
        message_max_bytes: 10,
        tls: Some(Tls { ca: Some("no/such/file".into()), key: Some("nor/this".into()), ..Tls::default() }),
        sasl: Some(Sasl { mechanism: SaslMechanism::Plain, user: String::new(), password: "secret".into() }),
        ..KafkaOptions::new("kafka:port")
    };
    options.extra.insert("no.such.property".to_owned(), "1".into());
    options.extra.insert("socket.timeout.ms".to_owned(), "soon".into());

    let message = refusal(&options);

    for part in [
        "brokers \"kafka:port\"",
        "linger 5s",
        "timeout 1ms",
        "message_max_bytes 10",
        "tls.ca no/such/file",
        "tls.key nor/this",
        "set both or none",
        "sasl.user",
        "no.such.property",
        "socket.timeout.ms",
    ] {
        assert!(message.contains(part), "{part} in {message}");
    }
    assert!(!message.contains("secret"), "{message}");
}

// pitfall D27: what would weaken a promise cannot be set.
#[test]
fn properties_that_would_break_a_promise_are_refused_with_the_reason() {
    for (name, value, reason) in [
        ("acks", "1", "every replica"),
        ("enable.idempotence", "false", "reordered"),
        ("enable.gapless.guarantee", "false", "pass"),
        ("message.timeout.ms", "100", "timeout"),
        ("queuing.strategy", "lifo", "turned round"),
        ("delivery.report.only.error", "true", "never hear"),
        ("transactional.id", "t", "transactions"),
        ("bootstrap.servers", "other:9092", "`brokers`"),
        ("sasl.password", "p", "`sasl`"),
    ] {
        let mut options = KafkaOptions::new("localhost:9092");
        options.extra.insert(name.to_owned(), value.into());
        let message = refusal(&options);
        assert!(message.contains(name) && message.contains(reason), "{message}");
    }
}

#[test]
fn options_are_read_from_names_and_texts() {
    let options = KafkaOptions::from_pairs(
        "a:1,b:2",
        [
            ("topic", "shop.{topic}"),
            ("format", "cloudevents_binary"),
            ("unknown_topic", "dead"),
            ("tombstones", "true"),
            ("compression", "zstd"),
            ("linger", "2ms"),
            ("timeout", "5s"),
            ("message_max_bytes", "5000"),
            ("tls.ca", "ca.pem"),
            ("sasl.mechanism", "scram-sha-512"),
            ("sasl.user", "u"),
            ("sasl.password", "hunter2"),
            ("kafka.client.id", "shop"),
        ],
    )
    .unwrap();

    assert_eq!(options.topic.to_string(), "shop.{topic}");
    assert_eq!(options.format, Format::CloudEventsBinary);
    assert_eq!(options.linger, Duration::from_millis(2));
    assert_eq!(options.extra["client.id"], "shop".into());
    assert_eq!(options.sasl.as_ref().unwrap().mechanism, SaslMechanism::ScramSha512);
    let shown = format!("{options:?}");
    assert!(shown.contains("ca.pem") && !shown.contains("hunter2") && !shown.contains("\"shop\""), "{shown}");
}

#[test]
fn what_is_not_understood_is_said_at_once_with_what_is_allowed() {
    let pairs = [
        ("topic", "{tenant}"),
        ("format", "avro"),
        ("unknown_topic", "create"),
        ("tombstones", "yes"),
        ("compression", "rar"),
        ("linger", "fast"),
        ("formt", "raw"),
        ("sasl.user", "u"),
    ];

    let message = KafkaOptions::from_pairs("localhost", pairs).unwrap_err().to_string();

    for part in [
        "{tenant_id}",
        "avro",
        "wait, dead",
        "tombstones \"yes\"",
        "none, lz4, snappy, zstd, gzip",
        "2ms or 10s",
        "formt: is no option",
        "sasl.mechanism, sasl.user and sasl.password",
    ] {
        assert!(message.contains(part), "{part} in {message}");
    }
}
