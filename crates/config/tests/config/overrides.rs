//! Environment variables over the file.

use std::{collections::HashMap, time::Duration};

use posthaste_config::{Config, Destination, Notes, keys};

use crate::fixture::{Made, around};

const FILE: &str = "
database: { url: sqlite://shop.db }
relay: { lease: 20s }
subscriptions:
  - name: orders.eu
    sink: { kafka: { brokers: 'a:9092' } }
  - { name: archive, sink: { stdout: {} } }
";

fn made(variables: &[(&'static str, &'static str)]) -> Made {
    Made(variables.iter().copied().collect())
}

#[track_caller]
fn with(variables: &[(&'static str, &'static str)]) -> Config {
    Config::parse(FILE, &made(variables)).unwrap()
}

fn problems(variables: &[(&'static str, &'static str)]) -> Vec<String> {
    let problems = Config::parse(FILE, &made(variables)).unwrap_err();
    problems.iter().map(ToString::to_string).collect()
}

fn brokers(config: &Config) -> &str {
    let Destination::Kafka(options) = &config.subscriptions[0].destination else { panic!("no kafka") };
    &options.brokers
}

#[test]
fn a_variable_counts_more_than_the_file_and_than_the_default() {
    let config = with(&[
        ("POSTHASTE_RELAY_LEASE", "30s"),
        ("POSTHASTE_RELAY_POLL_MAX", "2s"),
        ("POSTHASTE_DATABASE_URL", "postgres://relay@db/shop"),
        ("POSTHASTE_DATABASE_PASSWORD", "a${b"),
        ("POSTHASTE_RETRY_JITTER", "1.0, 1.5"),
        ("POSTHASTE_RELAY_BATCH", ""),
    ]);
    assert_eq!(
        (config.settings.lease, config.settings.poll_max),
        (Duration::from_secs(30), Duration::from_secs(2))
    );
    assert_eq!(config.database.address.expose(), "postgres://relay:a$%7Bb@db/shop");
    assert_eq!(config.subscriptions[1].subscription.retry.jitter, (1.0, 1.5));
    assert_eq!(config.settings.batch, 1_000, "empty is not set");
}

#[test]
fn an_item_is_meant_by_its_number_or_by_its_name() {
    for name in [
        "POSTHASTE_SUBSCRIPTIONS_0_SINK_KAFKA_BROKERS",
        "POSTHASTE_SUBSCRIPTIONS_ORDERS_EU_SINK_KAFKA_BROKERS",
    ] {
        assert_eq!(brokers(&with(&[(name, "b:9092")])), "b:9092", "{name}");
    }
    let config = with(&[
        ("POSTHASTE_SUBSCRIPTIONS_ARCHIVE_FILTER_TYPES", "order.*, user.created"),
        ("POSTHASTE_SUBSCRIPTIONS_2_NAME", "third"),
        ("POSTHASTE_SUBSCRIPTIONS_2_SINK_FILE_PATH", "third.jsonl"),
        ("POSTHASTE_SUBSCRIPTIONS_0_SINK_KAFKA_PROPERTIES", "client.rack=eu-1a,client.id=x"),
    ]);
    let types: Vec<String> =
        config.subscriptions[1].subscription.filter.types.iter().map(ToString::to_string).collect();
    assert_eq!(types, ["order.*", "user.created"]);
    assert_eq!(config.subscriptions[2].destination.to_string(), "file:third.jsonl");
}

#[test]
fn a_relay_needs_no_file() {
    let variables = [
        ("POSTHASTE_DATABASE_URL", "file:/run/secrets/url"),
        ("/run/secrets/url", "sqlite://shop.db"),
        ("POSTHASTE_SUBSCRIPTIONS_0_NAME", "all"),
        ("POSTHASTE_SUBSCRIPTIONS_0_SINK_STDOUT", "{}"),
        ("POSTHASTE_SERVER", "{}"),
    ];
    let config = Config::of_environment(&made(&variables)).unwrap();
    assert_eq!(config.database.address.expose(), "sqlite://shop.db");
    assert!(config.server.is_some());

    let problems = Config::of_environment(&made(&[("POSTHASTE_SUBSCRIPTIONS_0_NAME", "all")])).unwrap_err();
    let said: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        said,
        [
            "POSTHASTE_SUBSCRIPTIONS_0_NAME: subscriptions[0] has no sink; allowed is one",
            "environment: database.url is missing; allowed is postgres://user:password@host/database or sqlite://path",
        ]
    );
}

#[test]
fn what_is_wrong_names_the_variable_and_shows_no_secret() {
    assert_eq!(
        problems(&[
            ("POSTHASTE_RELAY_LEASE", "soon"),
            ("POSTHASTE_DATABASE_URL", "mysql://ada:hunter2@db/shop"),
            ("POSTHASTE_RELAY_LEES", "1s"),
            ("POSTHASTE_COLOUR", "red"),
            ("POSTHASTE_SUBSCRIPTIONS_NOBODY_START", "now"),
            ("POSTHASTE_SERVER_ALERTS_WEBHOOK_SECRET", "hunter2"),
            ("POSTHASTE_SUBSCRIPTIONS_1_SINK_STDOUT", "x"),
        ]),
        [
            "POSTHASTE_COLOUR: names no key; POSTHASTE_ and the path of a key in capitals is allowed, such as POSTHASTE_RELAY_LEASE",
            "POSTHASTE_DATABASE_URL: database.url is mysql://ada:***@db/shop; allowed is postgres://user:password@host/database or sqlite://path",
            "POSTHASTE_RELAY_LEASE: relay.lease is soon; allowed is a time from 500ms to 1h",
            "POSTHASTE_RELAY_LEES: names no key; did you mean POSTHASTE_RELAY_LEASE?",
            "POSTHASTE_SERVER_ALERTS_WEBHOOK_SECRET: server.alerts.webhook.url is missing; allowed is an address, such as https://hooks.example/posthaste",
            "POSTHASTE_SERVER_ALERTS_WEBHOOK_SECRET: server.alerts.webhook.secret is ***; allowed is whsec_ and 24 to 64 bytes in base 64",
            "POSTHASTE_SUBSCRIPTIONS_1_SINK_STDOUT: names a section; allowed is {}, or a variable for one of its keys",
            "POSTHASTE_SUBSCRIPTIONS_NOBODY_START: names no key; did you mean POSTHASTE_SUBSCRIPTIONS_0_START?",
        ]
    );
}

#[test]
fn what_is_wrong_in_the_file_is_not_hidden() {
    let text = FILE.replace("relay: { lease: 20s }", "relay: 5");
    let problems = Config::parse(&text, &made(&[("POSTHASTE_RELAY_LEASE", "30s")])).unwrap_err();
    assert_eq!(problems.to_string(), "line 3: relay is a text; keys with values are allowed");
}

#[test]
fn names_that_are_spelled_alike_need_a_number() {
    let text = around(
        "subscriptions:\n  - { name: a.b, sink: { stdout: {} } }\n  - { name: a-b, sink: { file: { path: x } } }",
    );
    let problems = Config::parse(&text, &made(&[("POSTHASTE_SUBSCRIPTIONS_A_B_START", "now")])).unwrap_err();
    assert_eq!(
        problems.to_string(),
        "POSTHASTE_SUBSCRIPTIONS_A_B_START: fits more than one item of a list; write its number, from 0, instead of its name"
    );
}

#[test]
fn variables_that_are_for_others_are_left_alone() {
    with(&[
        ("POSTHASTE_DATABASE", "sqlite://other.db"),
        ("POSTHASTE_TEST_KAFKA", "x"),
        ("POSTHASTE_BLESS", "1"),
        ("POSTHASTE_LOG", "debug"),
        ("POSTHASTE_PORT", "tcp://10.0.0.1:8025"),
        ("POSTHASTE_PORT_8025_TCP_ADDR", "10.0.0.1"),
        ("POSTHASTE_SERVICE_HOST", "10.0.0.1"),
        ("OTHER_RELAY_LEASE", "soon"),
    ]);
}

#[test]
fn every_key_has_a_variable_of_its_own() {
    let name = |path: &str| path.replace("[]", ".0").replace('.', "_").to_uppercase();
    let mut names: HashMap<String, String> = HashMap::new();
    for key in keys() {
        let variable: &'static str = format!("POSTHASTE_{}", name(&key.path)).leak();
        if let Some(other) = names.insert(variable.to_owned(), key.path.clone()) {
            assert_eq!(other, key.path, "{variable}");
        }
        let said = Config::parse("", &made(&[(variable, "x")])).unwrap_err().to_string();
        assert!(!said.contains("names no key"), "{variable}: {said}");
    }
}

#[test]
fn it_is_shown_where_each_value_comes_from() {
    let shown = with(&[("POSTHASTE_RELAY_POLL_MAX", "2s")]).show_with(Notes::Origins);
    for line in [
        "  lease: 20s  # line 3\n",
        "  poll_max: 2s  # POSTHASTE_RELAY_POLL_MAX\n",
        "  batch: 1000  # default\n",
        "  - name: orders.eu  # line 5\n",
    ] {
        assert!(shown.contains(line), "{line}{shown}");
    }
    Config::parse(&shown, &Made::default()).unwrap();
}
