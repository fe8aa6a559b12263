//! `validation`: what a payload has to be before it is delivered, for all subscriptions or for one.

use posthaste::Pattern;
use posthaste_validation::Rules;

use crate::{kind, retry::Origin, section::Section};

/// What a payload has to be, as it is written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wanted {
    json: bool,
    schemas: Vec<(String, String)>,
    pub(crate) rules: Rules,
}

/// Reads what is wanted. What is not written is as in the usual one.
pub(crate) fn read(section: Section<'_>, usual: &Wanted, origin: Origin) -> Wanted {
    let told = |key: &str, text: String| match origin {
        Origin::Program => text,
        Origin::File => format!("as validation.{key}"),
    };
    let json = section.or_as("json", &kind::switch(), usual.json, told("json", usual.json.to_string()));
    let path = kind::text(
        "event types, in which * stands for any, each with the path of a file that has its JSON Schema",
    );
    let schemas = section.pairs_or_as("schemas", &path, &usual.schemas, told("schemas", "{}".to_owned()));
    // Who inherits schemas is not blamed for them.
    let inherits = schemas == usual.schemas;
    let mut rules = if inherits { usual.rules.clone().with_json(json) } else { Rules::new(json) };
    for (pattern, path) in schemas.iter().filter(|_| !inherits) {
        if let Err(reason) = add(&section, &mut rules, pattern, path) {
            section.problem_with("schemas", &format!(".{} is {path}, which {reason}", kind::plain(pattern)));
        }
    }
    section.end();
    Wanted { json, schemas, rules }
}

fn add(section: &Section<'_>, rules: &mut Rules, pattern: &str, path: &str) -> Result<(), String> {
    let text = section
        .file("schemas", path)
        .map_err(|error| format!("cannot be read: {error}; allowed is a file with a JSON Schema"))?;
    rules.add(Pattern::new(pattern), &text).map_err(|error| {
        format!("is no JSON Schema: {error}; allowed is one, with nothing outside of the file")
    })
}
