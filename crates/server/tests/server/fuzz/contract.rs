//! The document as a contract: which operation a request is for, what may be sent to it, and what it may answer.

use std::{cell::RefCell, collections::HashMap};

use jsonschema::Validator;
use serde_json::{Value, json};

use crate::document::{Operation, operations_of};

/// What the server has promised in its document.
pub(super) struct Contract {
    pub(super) operations: Vec<Operation>,
    components: Value,
    validators: RefCell<HashMap<String, Validator>>,
}

/// Where a request leads to.
pub(super) enum Place<'c> {
    /// To an operation.
    Operation(&'c Operation),
    /// To a path that has others; whether one needs a token there.
    WrongMethod {
        closed: bool,
    },
    Nowhere,
}

impl Contract {
    pub(super) fn of(document: &Value) -> Self {
        let mut components = document["components"].clone();
        close(&mut components["schemas"]);
        Self { operations: operations_of(document), components, validators: RefCell::default() }
    }

    /// Where a request leads to. A path that is written out goes before one with a name in it.
    pub(super) fn place(&self, method: &str, path: &str) -> Place<'_> {
        let fitting = self.operations.iter().filter(|operation| fits(&operation.path, path));
        let Some(best) = fitting.min_by_key(|operation| operation.path.matches('{').count()) else {
            return Place::Nowhere;
        };
        let method = if method == "HEAD" { "GET" } else { method };
        let mut there = self.operations.iter().filter(|operation| operation.path == best.path);
        match there.find(|operation| operation.method == method) {
            Some(operation) => Place::Operation(operation),
            None => Place::WrongMethod { closed: !best.is_public() },
        }
    }

    /// What is wrong with a value by a schema of the document. Fields that the document does not have are wrong too.
    pub(super) fn wrong(&self, schema: &Value, value: &Value) -> Option<String> {
        let mut validators = self.validators.borrow_mut();
        let validator = validators.entry(schema.to_string()).or_insert_with(|| {
            let mut schema = schema.clone();
            close(&mut schema);
            let whole = json!({ "components": self.components, "allOf": [schema] });
            jsonschema::validator_for(&whole).unwrap()
        });
        let error = validator.validate(value).err()?;
        Some(format!("{} at {:?}", error, error.instance_path().as_str()).chars().take(300).collect())
    }

    /// What the document has behind a reference, if this is one.
    pub(super) fn resolve<'v>(&'v self, value: &'v Value) -> &'v Value {
        let Some(reference) = value["$ref"].as_str() else { return value };
        let pointer = reference.strip_prefix("#/components").unwrap();
        self.components.pointer(pointer).unwrap_or_else(|| panic!("{reference} is there"))
    }

    /// The schema of what an operation answers with this status in this media type. What is only allowed by default is not foreseen.
    pub(super) fn answer<'v>(
        &'v self,
        operation: &'v Operation,
        status: u16,
        kind: &str,
    ) -> Result<&'v Value, String> {
        let responses = operation.value["responses"].as_object().unwrap();
        let response = responses.get(&status.to_string());
        let response = self.resolve(response.ok_or(format!("the document has no {status} here"))?);
        let content = response["content"].as_object().unwrap();
        let found = content.get(kind.split(';').next().unwrap());
        found.map(|found| &found["schema"]).ok_or(format!("the document has no {status} of {kind:?} here"))
    }
}

/// Whether a path is one of those that a path with names in braces stands for.
fn fits(template: &str, path: &str) -> bool {
    let (wanted, given): (Vec<&str>, Vec<&str>) = (template.split('/').collect(), path.split('/').collect());
    let fits =
        |(wanted, given): (&&str, &&str)| wanted == given || (wanted.starts_with('{') && !given.is_empty());
    wanted.len() == given.len() && wanted.iter().zip(&given).all(fits)
}

/// Lets objects have the fields that are named, and no others.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            if fields.contains_key("properties") && !fields.contains_key("additionalProperties") {
                fields.insert("additionalProperties".to_owned(), json!(false));
            }
            fields.values_mut().for_each(close);
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}

#[test]
fn a_path_that_is_written_out_goes_first() {
    let contract = Contract::of(&crate::document::document());
    let named = |method: &str, path: &str| match contract.place(method, path) {
        Place::Operation(operation) => operation.value["operationId"].as_str().unwrap().to_owned(),
        Place::WrongMethod { closed } => format!("wrong method, closed: {closed}"),
        Place::Nowhere => "nowhere".to_owned(),
    };
    for (method, path, expected) in [
        ("GET", "/api/v1/dead-letters/groups", "list_dead_letter_groups"),
        ("HEAD", "/api/v1/dead-letters/17", "get_dead_letter"),
        ("GET", "/api/v1/dead-letters/replay", "wrong method, closed: true"),
        ("PUT", "/api/v1/login", "wrong method, closed: false"),
        ("GET", "/api/v1/subscriptions//lanes", "nowhere"),
    ] {
        assert_eq!(named(method, path), expected, "{method} {path}");
    }
}
