//! Values for what the document asks for: mostly what fits, else what was answered elsewhere, or what nobody should send. Seeded.

use std::collections::BTreeMap;

use fastrand::Rng;
use serde_json::{Map, Value, json};

use super::contract::Contract;
use crate::bad_input::{texts, values};

/// Words that mean something somewhere.
const WORDS: [&str; 12] = [
    "newest",
    "oldest",
    "beginning",
    "now",
    "failed",
    "dead",
    "pending",
    "delivered",
    "permanent_failure",
    "debug",
    "replayed",
    "order.placed",
];
/// How many values of one name are remembered.
const REMEMBERED: usize = 40;

pub(super) struct Values<'c> {
    pub(super) rng: Rng,
    pub(super) contract: &'c Contract,
    texts: Vec<String>,
    odd: Vec<Value>,
    /// What was answered, by the name that it had.
    seen: BTreeMap<String, Vec<Value>>,
}

impl<'c> Values<'c> {
    pub(super) fn new(seed: u64, contract: &'c Contract) -> Self {
        let mut odd = values();
        odd.extend([60, 126, 127, 128, 500].map(nested));
        Self { rng: Rng::with_seed(seed), contract, texts: texts(), odd, seen: BTreeMap::new() }
    }

    /// Whether something that happens so many times in a hundred happens.
    pub(super) fn chance(&mut self, percent: u8) -> bool {
        self.rng.u8(..100) < percent
    }

    /// One of these.
    pub(super) fn pick<T: Clone>(&mut self, items: &[T]) -> T {
        pick(&mut self.rng, items)
    }

    /// A text that was a bad idea elsewhere.
    pub(super) fn text(&mut self) -> String {
        pick(&mut self.rng, &self.texts)
    }

    /// A value that was one.
    pub(super) fn odd(&mut self) -> Value {
        pick(&mut self.rng, &self.odd)
    }

    /// Remembers what was answered.
    pub(super) fn see(&mut self, name: &str, value: &Value) {
        match value {
            Value::Object(fields) => fields.iter().for_each(|(name, value)| self.see(name, value)),
            Value::Array(items) => items.iter().take(20).for_each(|item| self.see(name, item)),
            Value::Null | Value::Bool(_) => {}
            value => {
                let place = self.rng.usize(..REMEMBERED);
                let known = self.seen.entry(name.to_owned()).or_default();
                match known.get_mut(place) {
                    Some(known) => *known = value.clone(),
                    None => known.push(value.clone()),
                }
            }
        }
    }

    /// A value for a name: mostly what is asked for, else something that was seen somewhere, or a bad idea.
    pub(super) fn value(&mut self, name: &str, schema: &Value) -> Value {
        match self.rng.u8(..20) {
            0..=12 => self.fitting(name, schema),
            13..=15 => Value::from(pick(&mut self.rng, &self.texts)),
            16..=17 => pick(&mut self.rng, &self.odd),
            _ => {
                let names: Vec<String> = self.seen.keys().cloned().collect();
                if names.is_empty() {
                    return json!(1);
                }
                let name = self.pick(&names);
                self.seen_as(&name)
            }
        }
    }

    fn seen_as(&mut self, name: &str) -> Value {
        self.seen.get(name).map_or(Value::Null, |known| pick(&mut self.rng, known))
    }

    /// What the document asks for.
    fn fitting(&mut self, name: &str, schema: &Value) -> Value {
        let schema = self.contract.resolve(schema).clone();
        let other_name = self.pick(&also_called(name));
        let known = self.seen_as(other_name);
        match type_of(&schema) {
            Some("integer") => self.number(&schema, &known),
            Some("boolean") => json!(self.rng.bool()),
            Some("array") => {
                let length = self.rng.usize(1..4);
                Value::from_iter((0..length).map(|_| self.fitting(name, &schema["items"])))
            }
            Some("object") => self.object(&schema),
            _ if known.is_string() && self.chance(60) => known,
            _ if !schema["example"].is_null() && self.chance(70) => schema["example"].clone(),
            _ => json!(pick(&mut self.rng, &WORDS)),
        }
    }

    /// Within its bounds, or close to them.
    fn number(&mut self, schema: &Value, known: &Value) -> Value {
        if known.is_number() && self.chance(80) {
            return known.clone();
        }
        let low = schema["minimum"].as_i64().unwrap_or(0);
        let high = schema["maximum"].as_i64().unwrap_or(1_000);
        let numbers = [low - 1, low, low + 1, 50, high - 1, high, high + 1, i64::MAX, i64::MIN];
        json!(pick(&mut self.rng, &numbers))
    }

    /// An object with some of its fields.
    pub(super) fn object(&mut self, schema: &Value) -> Value {
        let schema = self.contract.resolve(schema).clone();
        let mut fields = Map::new();
        for (name, field) in schema["properties"].as_object().into_iter().flatten() {
            let is_required = schema["required"].as_array().is_some_and(|names| names.contains(&json!(name)));
            if self.chance(if is_required { 96 } else { 30 }) {
                let value = self.value(name, field);
                fields.insert(name.clone(), value);
            }
        }
        if schema["additionalProperties"].is_object() {
            let name = self.seen_as("subscription");
            let name = name.as_str().map_or_else(|| pick(&mut self.rng, &self.texts), str::to_owned);
            let value = self.value(&name, &schema["additionalProperties"]);
            fields.insert(name, value);
        }
        Value::Object(fields)
    }
}

fn pick<T: Clone>(rng: &mut Rng, items: &[T]) -> T {
    items[rng.usize(..items.len())].clone()
}

/// What a value has to be, if it is there.
pub(super) fn type_of(schema: &Value) -> Option<&str> {
    let either = schema["type"].as_array().into_iter().flatten().find(|name| *name != "null");
    either.unwrap_or(&schema["type"]).as_str()
}

/// Under which names answers have what is sent under this one.
fn also_called(name: &str) -> Vec<&str> {
    match name {
        "cursor" => vec!["next"],
        "name" => vec!["subscription"],
        "ids" => vec!["dead_id"],
        "time" | "created_after" | "created_before" | "moved_after" | "moved_before" | "deliver_after" => {
            vec!["created_at", "moved_at", "now"]
        }
        "error_prefix" => vec!["error"],
        same => vec![same],
    }
}

/// A list in a list, so many times.
fn nested(depth: usize) -> Value {
    (0..depth).fold(json!([]), |inner, _| json!([inner]))
}
