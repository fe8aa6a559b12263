//! Makes requests of the document: good ones, and such as nobody should send.

use serde_json::{Map, Value, json};

use super::{
    attempt::Attempt,
    contract::Contract,
    values::{Values, type_of},
};
use crate::{bad_input::encoded, document::Operation};

const METHODS: [&str; 10] =
    ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW", "get"];
const JSON: &str = "application/json";
const OTHER_TYPES: [Option<&str>; 6] = [
    None,
    Some(""),
    Some("text/plain"),
    Some("application/xml"),
    Some("application/jsonx"),
    Some("multipart/form-data; boundary=application/json"),
];
/// What some take for a part of an address.
const RAW: [&[u8]; 14] = [
    b"%",
    b"%zz",
    b"%f",
    b"%ff",
    b"%c0%af",
    b"%ed%a0%80",
    b"%00",
    b"\xc3\xa9",
    b"\xff",
    b"\x01",
    b"<script>",
    b"|^\\",
    b"#x",
    b"/../..",
];
pub(super) struct Maker<'c> {
    pub(super) values: Values<'c>,
}

impl<'c> Maker<'c> {
    pub(super) fn new(seed: u64, contract: &'c Contract) -> Self {
        Self { values: Values::new(seed, contract) }
    }

    /// A request for an operation.
    pub(super) fn attempt(&mut self, operation: &Operation) -> Attempt {
        let mut wrong = Vec::new();
        let mut target = self.path(operation, &mut wrong).into_bytes();
        let query = self.query(operation, &mut wrong);
        if !query.is_empty() {
            target.push(b'?');
            target.extend(query.join("&").as_bytes());
        }
        let is_raw = self.values.chance(3);
        if is_raw {
            target.extend(self.values.pick(&RAW));
        }
        let (body, content_type) = self.body(operation, &mut wrong);
        let is_other = self.values.chance(5);
        let method = if is_other { self.values.pick(&METHODS) } else { operation.method.as_str() };
        if is_raw || is_other {
            // Nobody knows what is wrong with what it has become.
            wrong.clear();
        }
        Attempt { method: method.to_owned(), target, content_type, body, wrong, is_raw }
    }

    /// Each parameter of an operation that is in this place, with its schema.
    fn parameters(operation: &Operation, place: &str) -> Vec<(String, Value)> {
        let all = operation.value["parameters"].as_array().into_iter().flatten();
        let here = all.filter(|parameter| parameter["in"] == place);
        here.map(|parameter| {
            let mut schema = parameter["schema"].clone();
            schema["example"] = parameter["example"].clone();
            (parameter["name"].as_str().unwrap().to_owned(), schema)
        })
        .collect()
    }

    fn path(&mut self, operation: &Operation, wrong: &mut Vec<String>) -> String {
        let mut path = operation.path.clone();
        for (name, schema) in Self::parameters(operation, "path") {
            let text = self.parameter(&name, &schema, wrong);
            path = path.replace(&format!("{{{name}}}"), &encoded(&text));
        }
        path
    }

    fn query(&mut self, operation: &Operation, wrong: &mut Vec<String>) -> Vec<String> {
        let mut query = Vec::new();
        for (name, schema) in Self::parameters(operation, "query") {
            if !self.values.chance(25) {
                continue;
            }
            let text = self.parameter(&name, &schema, wrong);
            query.push(format!("{name}={}", encoded(&text)));
            if self.values.chance(2) {
                query.push(format!("{name}={}", encoded(&text)));
                wrong.push(format!("{name} is there twice"));
            }
        }
        if self.values.chance(3) {
            let text = self.values.text();
            let times = if self.values.chance(20) { 3_000 } else { 1 };
            query.extend((0..times).map(|time| format!("zzz{time}=")));
            query.push(format!("zzz={}", encoded(&text)));
            wrong.push("a parameter that nobody knows".to_owned());
        }
        query
    }

    /// A parameter as text. What the document does not allow is noted, and so is what no text may have.
    fn parameter(&mut self, name: &str, schema: &Value, wrong: &mut Vec<String>) -> String {
        let value = self.values.value(name, schema);
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let meant = match type_of(schema) {
            Some("integer") => text.parse::<i64>().map_or_else(|_| json!(text), Value::from),
            Some("boolean") => text.parse::<bool>().map_or_else(|_| json!(text), Value::from),
            _ => json!(text),
        };
        wrong.extend(self.values.contract.wrong(schema, &meant).map(|why| format!("{name}: {why}")));
        if text.contains('\0') || text.is_empty() {
            wrong.push(format!("{name} is empty, or has a zero byte"));
        }
        text
    }

    /// A body with its type.
    fn body(&mut self, operation: &Operation, wrong: &mut Vec<String>) -> (Vec<u8>, Option<&'static str>) {
        if operation.method == "GET" {
            return if self.values.chance(3) { (b"{}".to_vec(), Some(JSON)) } else { (Vec::new(), None) };
        }
        let schema = operation.value["requestBody"]["content"][JSON]["schema"].clone();
        let has_fields = schema.is_object();
        let body = if self.values.chance(8) {
            wrong.push("no object of JSON".to_owned());
            self.broken()
        } else {
            let value = if has_fields { self.values.object(&schema) } else { json!({}) };
            let value = self.with_a_strange_field(value);
            let allowed = if has_fields { schema } else { json!({ "maxProperties": 0 }) };
            wrong.extend(self.values.contract.wrong(&allowed, &value).map(|why| format!("body: {why}")));
            let is_empty = value.as_object().is_some_and(Map::is_empty) && self.values.rng.bool();
            if is_empty { Vec::new() } else { value.to_string().into_bytes() }
        };
        if self.values.chance(5) {
            let content_type = self.values.pick(&OTHER_TYPES);
            if !body.is_empty() {
                wrong.push(format!("a body of the type {content_type:?}"));
            }
            return (body, content_type);
        }
        (body, Some(if self.values.rng.bool() { JSON } else { "Application/JSON; charset=utf-8" }))
    }

    /// What is no object of JSON.
    fn broken(&mut self) -> Vec<u8> {
        let deep = "[".repeat(20_000).into_bytes();
        let cases: [&[u8]; 9] =
            [b"{", b"\xff\xfe", b"[]", b"null", b"5", b"{}x", b"{\"a\":1,}", b"{\"\xff\":1}", &deep];
        self.values.pick(&cases).to_vec()
    }

    fn with_a_strange_field(&mut self, mut value: Value) -> Value {
        if self.values.chance(4)
            && let Some(fields) = value.as_object_mut()
        {
            let name = self.values.text();
            fields.insert(format!("zzz{name}"), self.values.odd());
        }
        value
    }
}
