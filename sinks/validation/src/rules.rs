//! What a payload has to be.

use std::{fmt, sync::Arc};

use jsonschema::{PatternOptions, Validator};
use posthaste_core::{Error, Event, Pattern, Payload, Result};
use serde::de::IgnoredAny;
use serde_json::Value;

/// What payloads have to be. Cheap to clone; without any rule everything passes.
#[derive(Clone, Default)]
pub struct Rules {
    json: bool,
    schemas: Vec<(Pattern, Arc<Validator>)>,
}

impl Rules {
    /// No rules but, if asked for, that every payload is JSON.
    #[must_use]
    pub fn new(json: bool) -> Self {
        Self { json, schemas: Vec::new() }
    }

    /// The same rules, but for whether every payload has to be JSON.
    #[must_use]
    pub fn with_json(mut self, json: bool) -> Self {
        self.json = json;
        self
    }

    /// Payloads of these event types have to fit a JSON Schema; of all that fit the type, if there are several. A schema that refers to
    /// something outside of it is refused: it could not be had, or would change without anybody's knowing.
    pub fn add(&mut self, types: Pattern, schema: &str) -> Result<()> {
        let wrong = |error: String| Error::invalid(error);
        let schema: Value = serde_json::from_str(schema).map_err(|error| wrong(error.to_string()))?;
        let validator = jsonschema::options()
            // Takes linear time, whatever somebody writes into a payload.
            .with_pattern_options(PatternOptions::regex())
            .build(&schema)
            .map_err(|error| wrong(error.to_string()))?;
        self.schemas.push((types, Arc::new(validator)));
        Ok(())
    }

    /// Whether everything passes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !self.json && self.schemas.is_empty()
    }

    /// Says what is wrong with an event's payload, without showing any of it: it ends in logs and listings.
    pub fn check(&self, event: &Event) -> Result<(), String> {
        let mut schemas =
            self.schemas.iter().filter(|(types, _)| types.matches(&event.event_type)).peekable();
        if schemas.peek().is_none() {
            return if self.json { parse::<IgnoredAny>(event).map(drop) } else { Ok(()) };
        }
        let value: Value = parse(event)?;
        let wrong: Vec<String> = schemas
            .flat_map(|(_, schema)| schema.iter_errors(&value).take(MOST))
            .take(MOST)
            .map(|error| {
                let place = error.instance_path().to_string();
                let place = if place.is_empty() { "the payload".to_owned() } else { place };
                format!("{place}: {}", error.masked())
            })
            .collect();
        if wrong.is_empty() { Ok(()) } else { Err(wrong.join("; ")) }
    }
}

/// How many things that are wrong with one payload are told.
const MOST: usize = 5;

fn parse<'e, T: serde::Deserialize<'e>>(event: &'e Event) -> Result<T, String> {
    let bytes = match &event.payload {
        Payload::Json(text) => text.as_bytes(),
        Payload::Bytes { bytes, .. } => bytes,
    };
    serde_json::from_slice(bytes).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        format!("the payload is not JSON, from line {line}, column {column} on")
    })
}

impl fmt::Debug for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let types: Vec<String> = self.schemas.iter().map(|(types, _)| types.to_string()).collect();
        f.debug_struct("Rules").field("json", &self.json).field("schemas", &types).finish()
    }
}
