//! The OpenAPI document is what the server does: each operation answers, and knows the parameters that the document names.

use std::collections::BTreeSet;

use posthaste_server::cursor::{self, Listing};
use serde_json::{Value, json};

use crate::fixture::Fixture;

/// An operation of the document.
#[derive(Clone, Debug)]
pub(crate) struct Operation {
    pub(crate) method: String,
    /// With names in braces.
    pub(crate) path: String,
    pub(crate) value: Value,
}

impl Operation {
    /// Whether everybody may ask, or it depends.
    pub(crate) fn is_public(&self) -> bool {
        self.value["security"].as_array().is_some_and(|list| list.contains(&json!({})))
    }

    /// The path with this for every name in it.
    pub(crate) fn path_like(&self, text: &str) -> String {
        let mut path = String::new();
        for (index, part) in self.path.split(['{', '}']).enumerate() {
            path.push_str(if index % 2 == 0 { part } else { text });
        }
        path
    }

    /// The names of its parameters in the query.
    pub(crate) fn parameters(&self) -> BTreeSet<String> {
        let all = self.value["parameters"].as_array().cloned().unwrap_or_default();
        let names =
            all.iter().filter(|parameter| parameter["in"] == "query").map(|found| found["name"].as_str());
        names.map(|name| name.unwrap().to_owned()).collect()
    }

    /// The names of the fields of its body.
    pub(crate) fn fields(&self) -> BTreeSet<String> {
        let reference = &self.value["requestBody"]["content"]["application/json"]["schema"]["$ref"];
        let Some(name) = reference.as_str().and_then(|text| text.rsplit('/').next()) else {
            return BTreeSet::new();
        };
        let schema = &document()["components"]["schemas"][name];
        schema["properties"].as_object().unwrap().keys().cloned().collect()
    }
}

pub(crate) fn document() -> Value {
    serde_json::from_str(&posthaste_server::document()).unwrap()
}

pub(crate) fn operations() -> Vec<Operation> {
    operations_of(&document())
}

pub(crate) fn operations_of(document: &Value) -> Vec<Operation> {
    let paths = document["paths"].as_object().unwrap().clone();
    let operations: Vec<Operation> = paths
        .into_iter()
        .flat_map(|(path, item)| {
            let item = item.as_object().unwrap().clone();
            item.into_iter().map(move |(method, value)| Operation {
                method: method.to_uppercase(),
                path: path.clone(),
                value,
            })
        })
        .collect();
    assert!(operations.len() > 10, "the document has its operations");
    operations
}

/// What is said of a field; of one that may be null, it stands with what it is otherwise.
pub(crate) fn description(field: &Value) -> Option<&str> {
    field["description"].as_str().or_else(|| field["oneOf"].as_array()?.iter().find_map(description))
}

#[tokio::test]
async fn the_document_is_served_and_is_openapi_3_1() {
    let fixture = Fixture::new().await;
    let running = fixture.serve().await;

    let served = running.viewer.get("/api/openapi.json").await.json();
    assert_eq!(served, document());
    assert!(served["openapi"].as_str().unwrap().starts_with("3.1"), "{}", served["openapi"]);
    assert_eq!(served["security"], json!([{ "bearer": [] }]));
}

#[test]
fn every_operation_is_told_of_whole() {
    let document = document();
    let mut ids = BTreeSet::new();
    for operation in operations() {
        let what = format!("{} {}", operation.method, operation.path);
        let value = &operation.value;
        assert!(ids.insert(value["operationId"].as_str().unwrap().to_owned()), "{what} has an id of its own");
        assert!(value["summary"].as_str().is_some_and(|text| !text.is_empty()), "{what} has a summary");
        let answers = value["responses"].as_object().unwrap();
        for problem in ["400", "503", "default"] {
            assert!(answers.contains_key(problem), "{what} may answer with {problem}");
        }
        assert!(answers.keys().any(|status| status.starts_with('2')), "{what} has a success");
    }
    let schemas = document["components"]["schemas"].as_object().unwrap();
    for (name, schema) in schemas {
        for (field, value) in schema["properties"].as_object().into_iter().flatten() {
            assert!(description(value).is_some(), "{name}.{field} is told of: {value}");
        }
    }
    let problem = &document["components"]["responses"]["Problem"]["content"]["application/problem+json"];
    assert_eq!(problem["schema"]["$ref"], "#/components/schemas/Problem");
    let text = document.to_string();
    for reference in text.split("\"#/components/schemas/").skip(1).map(|rest| rest.split('"').next().unwrap())
    {
        assert!(schemas.contains_key(reference), "{reference} is there");
    }
}

#[test]
fn cursors_and_times_are_told_of_as_they_are_understood() {
    let pattern = |id: &str, name: &str| {
        let operations = operations();
        let found = operations.iter().find(|operation| operation.value["operationId"] == id).unwrap();
        let parameters = found.value["parameters"].as_array().unwrap();
        let schema = &parameters.iter().find(|parameter| parameter["name"] == name).unwrap()["schema"];
        jsonschema::validator_for(schema).unwrap()
    };
    let listings = [
        (Listing::Events, "list_events"),
        (Listing::Key, "get_key"),
        (Listing::DeadLetters, "list_dead_letters"),
        (Listing::Audit, "list_audit"),
    ];
    for (listing, id) in listings {
        let pattern = pattern(id, "cursor");
        for row in [1, 42, 1 << 40, i64::MAX] {
            for (other, _) in listings {
                let cursor = json!(cursor::write(other, row));
                assert_eq!(pattern.is_valid(&cursor), other == listing, "{id} {other:?} {row}");
            }
        }
        for bad in ["", "42", &cursor::write(listing, -1), &(cursor::write(listing, 1) + "A")] {
            assert!(!pattern.is_valid(&json!(bad)), "{id} {bad}");
        }
    }
    let time = pattern("list_events", "created_after");
    for (text, good) in [
        ("2026-03-01T12:00:00Z", true),
        ("1970-01-01T00:00:00.000001Z", true),
        ("1969-12-31T23:59:59Z", false),
        ("2026-03-01T12:00:00+01:00", false),
        ("soon", false),
    ] {
        assert_eq!(time.is_valid(&json!(text)), good, "{text}");
    }
}

/// Each operation says which names it knows when it is asked for one that it does not: those are what the document has.
#[tokio::test]
async fn each_operation_knows_the_names_that_the_document_has() {
    let fixture = Fixture::new().await;
    let running = fixture.serve().await;
    for operation in operations() {
        let what = format!("{} {}", operation.method, operation.path);
        let path = operation.path_like("0190163d-8694-739b-aea5-966c26f8ad91");
        let path = if operation.path.contains("{dead_id}") || operation.path.contains("{job_id}") {
            operation.path_like("1")
        } else {
            path
        };
        let (answer, expected) = if operation.method == "GET" {
            (running.viewer.get(&format!("{path}?zzz=1")).await, operation.parameters())
        } else {
            (
                running.operator.post_as(&operation.method, &path, &json!({ "zzz": 1 })).await,
                operation.fields(),
            )
        };
        assert_eq!(known(&answer.problem(400)), expected, "{what}");
        if operation.method != "GET" {
            let path = format!("{path}?zzz=1");
            let answer = running.operator.post_as(&operation.method, &path, &json!({})).await;
            assert_eq!(known(&answer.problem(400)), operation.parameters(), "{what}");
        }
    }
}

/// The names that are known, as the problem with an unknown one tells.
fn known(problem: &Value) -> BTreeSet<String> {
    let wrong = problem["errors"].as_array().unwrap().iter().find(|wrong| wrong["field"] == "zzz").cloned();
    let detail = wrong.unwrap()["detail"].as_str().unwrap().to_owned();
    let known = detail.strip_prefix("is not known; known are ").unwrap();
    known.split(", ").filter(|name| *name != "none").map(str::to_owned).collect()
}
