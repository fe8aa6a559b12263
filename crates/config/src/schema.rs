//! The JSON Schema of a file, for editors: made of the same notes as the documentation, which lends it its words.

use serde_json::{Map, Value, json};

use crate::field::{Absent, Field, Form, Step};

/// What each key means, as the documentation says it.
const DOCUMENTATION: &str = include_str!("../../../docs/configuration.md");

/// A value that comes from somewhere else.
const REFERENCE: &str = r"\$\{|^file:";

/// The JSON Schema (2020-12) of a file.
#[must_use]
pub fn schema() -> String {
    let mut root = section();
    for field in crate::whole() {
        add(&mut root, field.path.steps(), &field);
    }
    let more = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "The configuration of a relay of Posthaste",
        "$defs": { "reference": {
            "description": "from an environment variable, ${NAME}, or from a file, file:PATH",
            "type": "string",
            "pattern": REFERENCE,
        } },
    });
    if let (Some(root), Value::Object(more)) = (root.as_object_mut(), more) {
        root.extend(more);
        // The file itself has to have something in it.
        root.insert("type".to_owned(), json!("object"));
    }
    let text = serde_json::to_string_pretty(&root).unwrap_or_default();
    format!("{text}\n")
}

/// A section in which nothing is allowed yet.
fn section() -> Value {
    json!({ "type": ["object", "null"], "additionalProperties": false, "properties": {} })
}

/// Puts a key where its steps lead to.
fn add(node: &mut Value, steps: &[Step], field: &Field) {
    match steps {
        [Step::Key(key)] => {
            let properties = object(node, "properties");
            properties.entry(key.clone()).or_insert_with(|| value(field));
            if field.default == Absent::Required {
                require(node, key);
            }
        }
        [Step::Key(key), rest @ ..] => {
            let below = object(node, "properties").entry(key.clone()).or_insert_with(|| match rest {
                [Step::Item(_), ..] => json!({ "type": "array", "minItems": 1, "items": section() }),
                _ => section(),
            });
            match rest {
                [Step::Item(_), rest @ ..] => add(&mut below["items"], rest, field),
                rest => add(below, rest, field),
            }
            // Exactly one kind of sink.
            if key == "sink" {
                below["minProperties"] = json!(1);
                below["maxProperties"] = json!(1);
                require(node, key);
            }
            if matches!(key.as_str(), "database" | "subscriptions") {
                require(node, key);
            }
        }
        _ => {}
    }
}

fn object<'v>(node: &'v mut Value, key: &str) -> &'v mut Map<String, Value> {
    if !node[key].is_object() {
        node[key] = json!({});
    }
    node[key].as_object_mut().expect("it was just made one")
}

fn require(node: &mut Value, key: &str) {
    if !node["required"].is_array() {
        node["required"] = json!([]);
    }
    if let Some(required) = node["required"].as_array_mut()
        && !required.iter().any(|known| known == key)
    {
        required.push(json!(key));
    }
}

fn value(field: &Field) -> Value {
    let mut value = form(&field.form);
    let documented = field.key().path;
    let meaning = meaning(&documented).unwrap_or_default();
    value["description"] = json!(format!("{meaning} ({}: {})", field.kind, field.allowed));
    if let Absent::Is(default) = &field.default
        && !default.starts_with("as ")
    {
        value["default"] = literal(&field.form, default);
    }
    value
}

/// A default as JSON.
fn literal(form: &Form, text: &str) -> Value {
    match form {
        Form::Switch | Form::Whole { .. } | Form::Number { .. } | Form::List(_) | Form::Pairs => {
            serde_json::from_str(text).unwrap_or_else(|_| json!(text))
        }
        _ => json!(text),
    }
}

fn form(form: &Form) -> Value {
    let or_reference = |value: Value| json!({ "anyOf": [value, { "$ref": "#/$defs/reference" }] });
    match form {
        // YAML takes 007 for a number; here it is a text.
        Form::Text => json!({ "type": ["string", "number", "boolean"] }),
        Form::Switch => or_reference(json!({ "type": "boolean" })),
        Form::Word(words) => or_reference(json!({ "enum": words })),
        Form::Whole { least, most } => {
            or_reference(json!({ "type": "integer", "minimum": least, "maximum": most }))
        }
        Form::Number { least, most } => {
            or_reference(json!({ "type": "number", "minimum": least, "maximum": most }))
        }
        Form::Time => or_reference(json!({ "type": "string", "pattern": "^([0-9]+ *[a-zA-Z]+ *)+$" })),
        Form::Size => or_reference(json!({
            "type": ["integer", "string"], "minimum": 0, "pattern": "^[0-9]+ *(B|KiB|MiB|GiB)?$",
        })),
        Form::List(item) => json!({ "type": "array", "items": self::form(item) }),
        Form::Pairs => {
            json!({ "type": ["object", "null"], "additionalProperties": self::form(&Form::Text) })
        }
    }
}

/// What the documentation says of a key: the last cell of its row.
fn meaning(path: &str) -> Option<String> {
    let start = format!("| `{path}` | ");
    let row = DOCUMENTATION.lines().find(|line| line.starts_with(&start))?;
    let cell = row.trim_end_matches('|').rsplit(" | ").next()?;
    Some(cell.trim().replace("\\|", "|").replace('`', ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_has_its_meaning() {
        for key in crate::keys() {
            assert!(meaning(&key.path).is_some_and(|text| !text.is_empty()), "{}", key.path);
        }
    }
}
