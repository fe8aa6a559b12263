//! What a request may have, beyond what the types of its fields say. The document is made of those types; who makes requests of the
//! document, by hand or by machine, is not to be refused for what it did not tell.

use posthaste::{DeadReason, StatusWord};
use serde_json::{Map, Value, json};

use super::{events::SORTS, subscriptions::RESETS, tuning::RATES};
use crate::input::{LONGEST, MOST_NAMES};

/// A time that is understood: the format alone would allow other zones, and years before there was any event.
const UTC: &str =
    r"^(19[7-9]|[2-9][0-9]{2})[0-9]-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?Z$";
/// No database can compare a text with a zero byte.
const NO_ZERO: &str = r"^[^\x00]*$";

/// Narrows a field of a request.
pub(super) fn field(name: &str, schema: &mut Value) {
    without_null(schema);
    match schema["type"].as_str() {
        Some("string") => string(name, schema),
        Some("array") => schema["items"]["minimum"] = 1.into(),
        Some("object") if schema["additionalProperties"].is_object() => {
            text(&mut schema["propertyNames"]);
            let value = &mut schema["additionalProperties"];
            if value["type"] == "string" {
                // The text of a header may be empty.
                value["maxLength"] = LONGEST.into();
                value["pattern"] = NO_ZERO.into();
            } else {
                value["minimum"] = (*RATES.start()).into();
                value["maximum"] = (*RATES.end()).into();
                schema["maxProperties"] = MOST_NAMES.into();
            }
        }
        _ => {}
    }
}

fn string(name: &str, schema: &mut Value) {
    if schema["format"] == "date-time" {
        schema["pattern"] = UTC.into();
    } else if let Some(words) = words(name) {
        schema["enum"] = words.into();
    } else if schema["pattern"].is_null() && schema["maxLength"].is_null() {
        text(schema);
    }
}

/// A text that can be compared with something.
fn text(schema: &mut Value) {
    schema["minLength"] = 1.into();
    schema["maxLength"] = LONGEST.into();
    schema["pattern"] = NO_ZERO.into();
}

/// The words that are understood, where only some are.
fn words(name: &str) -> Option<Vec<&'static str>> {
    match name {
        "status" => Some(StatusWord::ALL.map(StatusWord::as_str).into()),
        "reason" => Some(DeadReason::ALL.map(DeadReason::as_str).into()),
        "sort" => Some(SORTS.map(|(word, _)| word).into()),
        "to" => Some(RESETS.map(|(word, _)| word).into()),
        _ => None,
    }
}

/// The schema of what it is if it is there.
fn without_null(schema: &mut Value) {
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            schema["type"] = only.clone();
        }
    }
    if let Some(Value::Array(choices)) = schema.get("oneOf") {
        let mut others = choices.iter().filter(|choice| choice["type"] != "null");
        if let (Some(only), None) = (others.next().cloned(), others.next()) {
            *schema = only;
        }
    }
}

/// Narrows a body: to the fields that it has, and to what they have to do with each other.
pub(super) fn body(name: &str, body: &mut Map<String, Value>) {
    body.insert("additionalProperties".to_owned(), false.into());
    let one_of = |names: &[&str]| Value::from_iter(names.iter().map(|name| json!({ "required": [name] })));
    match name {
        "Letters" => {
            body.insert("oneOf".to_owned(), one_of(&["ids", "filter"]));
            body.insert("dependentRequired".to_owned(), json!({ "per_second": ["filter"] }));
        }
        "Reset" => _ = body.insert("oneOf".to_owned(), one_of(&["to", "position", "time"])),
        "DeadSelection" => {
            _ = body.insert("not".to_owned(), json!({ "required": ["error", "error_prefix"] }))
        }
        "NewEvent" => {
            let both = json!({ "aggregate_type": ["aggregate_id"], "aggregate_id": ["aggregate_type"] });
            body.insert("dependentRequired".to_owned(), both);
        }
        _ => {}
    }
}
