//! What is different between a file and the next.

use std::collections::HashMap;

use posthaste_config::{Config, HOT, keys};

use crate::fixture::{Made, parse};

const FILE: &str = "
database: { url: 'postgres://relay@db/shop', password: file:/pw }
relay: { batch: 100, lease: 15s }
subscriptions:
  - { name: a, sink: { stdout: {} } }
  - { name: b, rate_limit: 5, sink: { kafka: { brokers: 'a:9092' } } }
";

fn with(password: &'static str, text: &str) -> Config {
    Config::parse(text, &Made(HashMap::from([("/pw", password)]))).unwrap()
}

#[test]
fn what_counts_at_once_is_told_from_what_needs_a_restart() {
    let old = with("x", FILE);
    let text = FILE
        .replace("batch: 100, lease: 15s", "batch: 200, poll_max: 1s, lease: 20s")
        .replace("rate_limit: 5", "paused: true")
        .replace("a:9092", "b:9092");
    let new = with("x", &text);
    let changes = old.changes(&new);
    assert_eq!(changes.hot, ["relay.batch", "subscriptions[1].rate_limit", "subscriptions[1].paused"]);
    assert_eq!(changes.restart, ["relay.lease", "subscriptions[1].sink.kafka.brokers"]);

    let now = old.with_hot(&new);
    assert_eq!(now.changes(&new).hot, [""; 0]);
    assert_eq!(now.changes(&new).restart, changes.restart, "it is told until it is done");
    assert!(now.show().contains("batch: 200\n") && now.show().contains("lease: 15s\n"));
    assert_eq!((now.subscriptions[1].rate_limit, now.subscriptions[1].paused), (None, Some(true)));
}

#[test]
fn the_same_in_other_words_is_no_change_and_another_secret_is_one() {
    let old = with("x", FILE);
    let same = with("x", &FILE.replace("lease: 15s", "lease: 15000ms, grace: 10s"));
    assert_eq!(old.changes(&same), posthaste_config::Changes::default());
    assert_eq!(old.changes(&with("y", FILE)).restart, ["database.password"]);
}

#[test]
fn a_schema_whose_file_has_changed_is_a_change_that_counts_at_once() {
    let text = "database: { url: sqlite://a }
validation: { schemas: { order.*: order.json } }
subscriptions:
  - { name: a, sink: { stdout: {} } }
  - { name: b, validation: { schemas: { '*': own.json } }, sink: { file: { path: b } } }
";
    let with =
        |order, own| Config::parse(text, &Made([("order.json", order), ("own.json", own)].into())).unwrap();
    let (any, whole) = ("{}", r#"{ "required": ["id"] }"#);
    let old = with(any, any);

    assert_eq!(old.changes(&with(any, any)), posthaste_config::Changes::default());
    assert_eq!(old.changes(&with(whole, any)).hot, ["validation.schemas"]);
    let new = with(any, whole);
    let changes = old.changes(&new);
    assert_eq!(
        (changes.hot, changes.restart),
        (vec!["subscriptions[1].validation.schemas".to_owned()], Vec::new())
    );
    let empty = posthaste::Event::of("order.placed").bytes("{}", "application/json");
    let stamp =
        posthaste::Stamp { id: posthaste::EventId::from_bytes([1; 16]), now: posthaste::Timestamp(0) };
    let empty = empty.build(&posthaste::EventRules::default(), stamp).unwrap();
    assert!(old.subscriptions[1].rules.check(&empty).is_ok());
    let now = old.with_hot(&new);
    assert!(
        now.subscriptions[0].rules.check(&empty).is_ok() && now.subscriptions[1].rules.check(&empty).is_err()
    );
    assert_eq!(now.changes(&new), posthaste_config::Changes::default());
}

#[test]
fn what_comes_and_goes_needs_a_restart() {
    let old = parse("database: { url: sqlite://a }\nsubscriptions: [{ name: a, sink: { stdout: {} } }]");
    let more = parse(
        "database: { url: sqlite://a }\nserver: {}\nsubscriptions: [{ name: a, sink: { stdout: {} } }]",
    );
    assert!(old.changes(&more).restart.contains(&"server.listen".to_owned()));
    assert!(more.changes(&old).restart.contains(&"server.listen".to_owned()));
}

#[test]
fn what_is_hot_exists_and_is_documented() {
    let keys: Vec<String> = keys().into_iter().map(|key| key.path).collect();
    let text = include_str!("../../../../docs/configuration.md");
    let (_, section) = text.split_once("## Changing a relay while it runs").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    for hot in HOT {
        assert!(keys.contains(&hot.to_owned()) && section.contains(&format!("`{hot}`")), "{hot}");
    }
}
