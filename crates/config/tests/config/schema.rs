//! The JSON Schema for editors: it is the one in `docs`, and it agrees with the program.

use posthaste_config::{Config, EXAMPLE, keys, schema};
use serde_json::Value;

use crate::fixture::{Made, around};

fn allows(text: &str) -> bool {
    let schema: Value = serde_json::from_str(&schema()).unwrap();
    let file: Value = serde_saphyr::from_str(text).unwrap();
    jsonschema::validator_for(&schema).unwrap().is_valid(&file)
}

#[test]
fn the_file_in_docs_is_this_one() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/posthaste.schema.json");
    if std::env::var_os("POSTHASTE_BLESS").is_some() {
        std::fs::write(path, schema()).unwrap();
    }
    let stored = std::fs::read_to_string(path).unwrap_or_default();
    assert!(stored == schema(), "docs/posthaste.schema.json is old; run this test with POSTHASTE_BLESS=1");
}

#[test]
fn it_is_a_schema_and_has_every_key_with_its_meaning() {
    let value: Value = serde_json::from_str(&schema()).unwrap();
    assert!(jsonschema::meta::is_valid(&value));
    for key in keys() {
        let mut node = &value;
        for step in key.path.split('.') {
            let (step, list) = step.strip_suffix("[]").map_or((step, false), |step| (step, true));
            node = &node["properties"][step];
            if list {
                node = &node["items"];
            }
        }
        assert!(node["description"].as_str().is_some_and(|text| text.len() > 10), "{}: {node}", key.path);
    }
}

#[test]
fn it_allows_what_the_program_allows_and_no_strange_keys() {
    let documented = include_str!("../../../../docs/configuration.md");
    let (_, rest) = documented.split_once("```yaml\n").unwrap();
    let whole = include_str!("../../src/whole.yaml");
    for good in [EXAMPLE, rest.split_once("```").unwrap().0, whole, &around("relay:\nserver: {}")] {
        assert!(allows(good), "{good}");
        let made = Made([("DB_PASSWORD", "x")].into());
        Config::parse(good, &made).unwrap();
    }
    assert!(allows(&around("relay: { batch: '${BATCH}', lease: 1m 30s, page: { bytes: 8MiB } }")));
    for bad in [
        "relay: { batch: many }",
        "relay: { batch: 0 }",
        "relay: { lees: 15s }",
        "relay: { lease: 15 }",
        "subscriptions: []",
        "subscriptions: [{ name: a }]",
        "subscriptions: [{ name: a, sink: { stdout: {}, file: { path: x } } }]",
        "subscriptions: [{ name: a, order: any, sink: { stdout: {} } }]",
        "server: { tokens: [{ name: a, role: admin, sha256: x }] }",
        "log: { format: xml }",
    ] {
        assert!(!allows(&around(bad)), "{bad}");
        assert!(Config::parse(&around(bad), &Made::default()).is_err(), "{bad}");
    }
}
