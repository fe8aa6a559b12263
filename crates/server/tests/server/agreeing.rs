//! What the document allows is taken, and what it does not allow is refused: case by case, where a type alone says too little.

use std::sync::Arc;

use jsonschema::Validator;
use serde_json::{Value, json};

use crate::{
    document::{Operation, document, operations},
    fixture::{Fixture, serve, settings},
    tuning::Knobs,
};

fn operation(id: &str) -> Operation {
    operations().into_iter().find(|operation| operation.value["operationId"] == id).unwrap()
}

/// A schema of the document, which may name others.
fn validator(schema: &Value) -> Validator {
    let whole = json!({ "components": document()["components"], "allOf": [schema] });
    jsonschema::validator_for(&whole).unwrap()
}

/// Bodies for an operation, and whether the document allows each.
type Bodies = Vec<(&'static str, bool, Value)>;

fn selections() -> Bodies {
    let letters = "replay_dead_letters";
    vec![
        (letters, true, json!({ "ids": [1], "dry_run": true })),
        (letters, true, json!({ "filter": {}, "per_second": 1, "dry_run": true })),
        (letters, true, json!({ "ids": [1.0], "dry_run": true })),
        (letters, false, json!({ "ids": [1.5] })),
        (letters, false, json!({ "ids": [1], "more": 1 })),
        (letters, false, json!({})),
        (letters, false, json!({ "ids": [] })),
        (letters, false, json!({ "ids": [0] })),
        (letters, false, json!({ "ids": (1..=501).collect::<Vec<i64>>() })),
        (letters, false, json!({ "ids": [1], "filter": {} })),
        (letters, false, json!({ "ids": [1], "per_second": 1 })),
        (letters, true, json!({ "filter": { "reason": "poison_message" }, "dry_run": true })),
        (letters, false, json!({ "filter": { "reason": "none" } })),
        (letters, false, json!({ "filter": { "topic": null } })),
        (letters, false, json!({ "filter": { "error": "a", "error_prefix": "a" } })),
    ]
}

fn other_bodies() -> Bodies {
    let event = |field: &str, value: Value| json!({ "event_type": "a", "payload": 1, field: value });
    let reset = "reset_subscription";
    vec![
        (reset, true, json!({ "to": "now", "dry_run": true })),
        (reset, true, json!({ "time": "2026-03-01T12:00:00.5Z", "dry_run": true })),
        (reset, false, json!({ "dry_run": true })),
        (reset, false, json!({ "to": "end" })),
        (reset, false, json!({ "to": "now", "position": 1 })),
        (reset, false, json!({ "time": "2026-03-01T12:00:00+01:00" })),
        ("publish_event", true, event("headers", json!({ "trace": "" }))),
        ("publish_event", false, event("headers", json!({ "": "x" }))),
        ("publish_event", false, event("headers", json!({ "trace": "a\u{0}" }))),
        ("publish_event", true, event("key", json!("é".repeat(4_000)))),
        ("publish_event", false, event("key", json!("é".repeat(4_001)))),
        ("publish_event", false, event("key", json!(""))),
        ("publish_event", false, event("key", json!("a\u{0}b"))),
        ("publish_event", false, event("aggregate_id", json!("7"))),
        ("edit_dead_letter", true, json!({ "payload": "" })),
        ("edit_dead_letter", false, json!({})),
        ("change_tuning", true, json!({ "rate_limits": { "a": null } })),
        ("change_tuning", false, json!({ "rate_limits": { "a": 0 } })),
        ("change_tuning", false, json!({})),
        ("change_tuning", true, json!({ "log_level": "debug" })),
        ("change_tuning", false, json!({ "log_level": "loud" })),
    ]
}

#[tokio::test]
async fn a_body_is_refused_if_the_document_does_not_allow_it() {
    let fixture = Fixture::new().await;
    let running = serve(fixture.server(settings()).tunable(Arc::new(Knobs::new(None)))).await;
    for (id, allowed, body) in selections().into_iter().chain(other_bodies()) {
        let operation = operation(id);
        let schema = &operation.value["requestBody"]["content"]["application/json"]["schema"];
        assert_eq!(validator(schema).is_valid(&body), allowed, "{id} {body:.200}");
        let path = operation.path_like("1");
        let answer = running.operator.post_as(&operation.method, &path, &body).await;
        assert_eq!(answer.status != 400, allowed, "{id} {body:.200}: {}", answer.text());
    }
}

#[tokio::test]
async fn a_parameter_is_refused_if_the_document_does_not_allow_it() {
    let fixture = Fixture::new().await;
    let running = fixture.serve().await;
    for (id, name, allowed, text) in [
        ("list_events", "sort", true, "oldest"),
        ("list_events", "sort", false, "up"),
        ("list_events", "status", false, "fine"),
        ("list_events", "topic", false, ""),
        ("list_events", "created_after", true, "2026-03-01T12:00:00Z"),
        ("list_events", "created_after", false, "2026-03-01T12:00:00-01:00"),
        ("list_events", "created_after", false, "1969-12-31T23:59:59Z"),
        ("list_events", "cursor", true, "ZQAAAAAAAAAq"),
        ("list_events", "cursor", false, "ZAAAAAAAAAAq"),
        ("list_dead_letters", "cursor", true, "ZAAAAAAAAAAq"),
        ("list_dead_letters", "reason", true, "permanent_failure"),
        ("list_dead_letters", "reason", false, "none"),
        ("list_audit", "cursor", false, "awAAAAAAAAAq"),
        ("list_audit", "by", false, ""),
    ] {
        let operation = operation(id);
        let parameters = operation.value["parameters"].as_array().unwrap();
        let schema = &parameters.iter().find(|parameter| parameter["name"] == name).unwrap()["schema"];
        assert_eq!(validator(schema).is_valid(&json!(text)), allowed, "{id} {name}={text}");
        let answer = running.viewer.get(&format!("{}?{name}={text}", operation.path)).await;
        assert_eq!(answer.status != 400, allowed, "{id} {name}={text}: {}", answer.text());
    }
}
