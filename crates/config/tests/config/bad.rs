//! Files with something wrong in them: all of it is said at once, in these very words.

use posthaste_config::keys;

use crate::fixture::{around, around_kafka, check, problems};

#[test]
fn everything_that_is_wrong_is_said_at_once_from_top_to_bottom() {
    let text = "
database:
  url: mysql://ada:hunter2@db/shop
  lanes: 65
  prefx: a
relay:
  lease: 1ms
  batch: many
  poll_min: 2s
subscriptions:
  - name: with space
    order: any
    sink: { file: { path: a }, stdout: {} }
  - name: b
    retry: { base: 2h, max: 1m }
    sink: { flie: { path: a } }
colour: red
";
    let postgres_or_sqlite = "allowed is postgres://user:password@host/database or sqlite://path";
    assert_eq!(
        problems(text),
        [
            &format!("line 3: database.url is mysql://ada:***@db/shop; {postgres_or_sqlite}"),
            "line 4: database.lanes is 65; allowed is a whole number from 1 to 64",
            "line 5: database.prefx is not known; did you mean prefix?",
            "line 7: relay.lease is 1ms; allowed is a time from 500ms to 1h",
            "line 8: relay.batch is many; allowed is a whole number from 1 to 100000",
            "line 9: relay.poll_min is 2s, and poll_max is 1s; poll_min may not be longer",
            "line 11: subscriptions[0].name is \"with space\"; allowed is 1 to 100 letters, digits, -, _ or .",
            "line 12: subscriptions[0].order is any; allowed is key or none",
            "line 13: subscriptions[0].sink has file and stdout; allowed is one of kafka, file or stdout",
            "line 15: subscriptions[1].retry.base is 2h, and max is 1m; base may not be longer",
            "line 16: subscriptions[1].sink.flie is not known; did you mean file?",
            "line 17: colour is not known; known here are database, relay, retention, retry, validation, subscriptions, metrics, log, traces, server",
        ]
    );
}

#[test]
fn what_is_missing_is_named() {
    assert_eq!(
        problems(""),
        [
            "line 1: database.url is missing; allowed is postgres://user:password@host/database or sqlite://path",
            "line 1: subscriptions is missing; at least one is needed",
        ]
    );
    check("subscriptions: []", &["line 1: subscriptions is empty; at least one is needed"]);
    check("subscriptions:", &["line 1: subscriptions is empty; at least one is needed"]);
    check(
        "subscriptions:\n  - start: now",
        &[
            "line 2: subscriptions[0].name is missing; allowed is 1 to 100 letters, digits, -, _ or .",
            "line 2: subscriptions[0] has no sink; allowed is one",
        ],
    );
    check(
        "subscriptions:\n  - name: a\n    sink: {}",
        &["line 3: subscriptions[0].sink is empty; allowed is one of kafka, file or stdout"],
    );
    check("relay:\n  lease:", &["line 2: relay.lease is empty; allowed is a time from 500ms to 1h"]);
}

#[test]
fn what_has_the_wrong_shape_is_named() {
    check("relay: 15s", &["line 1: relay is a text; keys with values are allowed"]);
    check("relay: { lease: [15s] }", &["line 1: relay.lease is a list; allowed is a time from 500ms to 1h"]);
    check(
        "subscriptions: { name: a }",
        &["line 1: subscriptions is a section; allowed is a list, each item beginning with `- `"],
    );
    check(
        "subscriptions: [a]",
        &[
            "line 1: subscriptions[0] is a text; keys with values are allowed",
            "line 1: subscriptions[0].name is missing; allowed is 1 to 100 letters, digits, -, _ or .",
            "line 1: subscriptions[0] has no sink; allowed is one",
        ],
    );
    check(
        "retry: { jitter: [1] }",
        &["line 1: retry.jitter is no pair; allowed are two numbers such as [0.75, 1.25]"],
    );
    check(
        "retry: { jitter: [2, 1] }",
        &["line 1: retry.jitter is [2.0, 1.0]; the first may not be larger than the second"],
    );
    check(
        "subscriptions:\n  - name: a\n    filter: { types: order.* }\n    sink: { stdout: {} }",
        &[
            "line 3: subscriptions[0].filter.types is a text; allowed is a list, each a text in which * stands for any",
        ],
    );
    assert_eq!(problems("- a")[0], "line 1: the file is a list; keys with values are allowed");
    check("relay: [15s\n]]\n", &["line 2: this is no YAML: misplaced bracket"]);
}

#[test]
fn what_cannot_be_shared_is_not() {
    check(
        "subscriptions:\n  - { name: a, sink: { stdout: {} } }\n  - { name: a, sink: { file: { path: x } } }",
        &["line 3: subscriptions[1].name is a, as that of subscriptions[0] (line 2); each needs its own"],
    );
    check(
        "subscriptions:\n  - { name: a, sink: { stdout: {} } }\n  - { name: b, sink: { stdout: {} } }",
        &[
            "line 3: subscriptions[1].sink writes to standard output, as that of subscriptions[0] (line 2); each needs its own",
        ],
    );
    check(
        "subscriptions:\n  - { name: a, sink: { file: { path: x } } }\n  - { name: b, sink: { file: { path: x } } }",
        &[
            "line 3: subscriptions[1].sink writes to x, as that of subscriptions[0] (line 2); each needs its own",
        ],
    );
}

#[test]
fn every_section_knows_what_it_does_not_know() {
    let mut sections: Vec<String> = keys()
        .iter()
        .map(|key| key.path.rsplit_once('.').map_or("", |(section, _)| section).to_owned())
        .collect();
    sections.sort();
    sections.dedup();
    for section in sections {
        let file = with_a_strange_key(&section);
        let said = problems(&file).join("\n");
        assert!(said.contains("strange is not known"), "{section}:\n{file}\n{said}");
    }
}

/// A file with a key that nobody knows in this section.
fn with_a_strange_key(section: &str) -> String {
    let steps: Vec<&str> = section.split('.').collect();
    let within = |inner: String, step: &&str| match step.strip_suffix("[]") {
        Some(list) => format!("{list}: [{{ {inner} }}]"),
        None => format!("{step}: {{ {inner} }}"),
    };
    let inner = steps.iter().skip(1).rev().fold("strange: x".to_owned(), within);
    match steps[0] {
        "" => around("strange: x"),
        "subscriptions[]" => around(&format!("subscriptions:\n  - {{ {inner} }}")),
        "database" => format!("database: {{ url: sqlite://a, {inner} }}"),
        first => around(&format!("{first}: {{ {inner} }}")),
    }
}

#[track_caller]
fn check_kafka(keys: &str, expected: &[&str]) {
    assert_eq!(problems(&around_kafka(keys)), expected, "{keys}");
}

#[test]
fn the_keys_of_a_kafka_sink_are_checked() {
    check_kafka(
        "",
        &[
            "line 4: subscriptions[0].sink.kafka.brokers is missing; allowed is host:port of some brokers, separated by commas",
        ],
    );
    check_kafka(
        "brokers: 'a:9092', compresion: lz4, format: avro, unknown_topic: create",
        &[
            "line 4: subscriptions[0].sink.kafka.format is avro; allowed is posthaste, cloudevents, cloudevents_binary or raw",
            "line 4: subscriptions[0].sink.kafka.unknown_topic is create; allowed is wait or dead",
            "line 4: subscriptions[0].sink.kafka.compresion is not known; did you mean compression?",
        ],
    );
    check_kafka(
        "brokers: 'a:9092', topic: '{tenant}'",
        &[
            "line 4: subscriptions[0].sink.kafka.topic is {tenant}; allowed is a name, in which {topic}, {event_type}, {aggregate_type} and {tenant_id} may stand",
        ],
    );
}

#[test]
fn a_kafka_sink_is_checked_as_the_sink_itself_would() {
    check_kafka(
        "brokers: 'a b', properties: { acks: 1, no.such: hunter2 }",
        &[
            "line 4: subscriptions[0].sink.kafka.brokers \"a b\": write host:port, several separated by commas",
            "line 4: subscriptions[0].sink.kafka.properties.acks: is not allowed: an event would count as delivered before every replica has it",
            "line 4: subscriptions[0].sink.kafka.properties.no.such: Client config error: No such configuration property: \"no.such\" no.such ***",
        ],
    );
    check_kafka(
        "brokers: 'a:9092', tls: { ca: /no/such/file.pem, key: k }, sasl: { mechanism: SCRAM, user: ada }",
        &[
            "line 4: subscriptions[0].sink.kafka.sasl.mechanism is SCRAM; allowed is PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512",
            "line 4: subscriptions[0].sink.kafka.sasl.password is missing; allowed is a password; better ${NAME} or file:PATH than the password itself",
            "line 4: subscriptions[0].sink.kafka.tls.ca /no/such/file.pem: cannot be read: No such file or directory (os error 2)",
            "line 4: subscriptions[0].sink.kafka.tls.key k: cannot be read: No such file or directory (os error 2)",
            "line 4: subscriptions[0].sink.kafka.tls.certificate and tls.key: set both or none",
        ],
    );
}

#[test]
fn a_password_is_in_one_place() {
    check(
        "database:\n  url: postgres://ada:hunter2@db/shop\n  password: hunter2",
        &["line 3: database.password is in the url as well; allowed is one of both"],
    );
    check(
        "database:\n  url: postgres://db/shop\n  password: hunter2",
        &[
            "line 2: database.url has no user; with a password it needs one, as in postgres://user@host/database",
        ],
    );
}

#[test]
fn what_one_database_has_the_other_need_not_have() {
    check(
        "database:\n  url: sqlite://shop.db\n  schema: public\n  pooler: true",
        &[
            "line 3: database.schema is only for PostgreSQL; leave it out",
            "line 4: database.pooler is only for PostgreSQL; leave it out",
        ],
    );
    check(
        "database: { url: 'postgres://ada:hunter2@db:port/shop' }",
        &[
            "line 1: database.url is postgres://ada:***@db:port/shop; invalid port number; reserved characters in a password are written as %XX",
        ],
    );
}
