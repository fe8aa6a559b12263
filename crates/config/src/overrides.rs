//! Environment variables over the file: every key has one, `POSTHASTE_` and its path in capitals.
//!
//! Which variables there are follows from the keys that are noted when a file is read, so that none can be forgotten. What a
//! variable says is put into the tree in the place of what the file says, and is read as the file is.

use std::ffi::OsString;

use crate::{
    environment::Environment,
    field::{Field, Form, Step},
    problem::{Place, Problem},
    suggest::nearest,
    tree::{Entry, Node, Value},
};

/// What all variables begin with.
const PREFIX: &str = "POSTHASTE_";

/// Variables that are for others: for the command line, for tests and development, and those that Kubernetes sets in every pod beside
/// a service called `posthaste`.
const FOREIGN: [&str; 4] = ["POSTHASTE_DATABASE", "POSTHASTE_LOG", "POSTHASTE_BLESS", "POSTHASTE_PORT"];
const FOREIGN_PREFIXES: [&str; 3] = ["POSTHASTE_TEST_", "POSTHASTE_SERVICE_", "POSTHASTE_PORT_"];

/// Nobody has more items in a list.
const MOST_ITEMS: usize = 1_000;

/// Puts what variables say into a file; answers what is wrong with them.
pub(crate) fn apply(root: &mut Node, environment: &dyn Environment) -> Vec<Problem> {
    let mut variables = environment.variables();
    variables.retain(|(name, value)| is_ours(name) && !value.is_empty());
    if variables.is_empty() {
        return Vec::new();
    }
    variables.sort();
    let fields = crate::whole();
    let mut problems = Vec::new();
    for (name, value) in variables {
        if let Err(text) = put(root, &fields, &name, value) {
            problems.push(Problem { place: Place::Variable(name), text });
        }
    }
    problems
}

fn is_ours(name: &str) -> bool {
    name.starts_with(PREFIX)
        && !FOREIGN.contains(&name)
        && !FOREIGN_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

fn put(root: &mut Node, fields: &[Field], name: &str, value: OsString) -> Result<(), String> {
    let value = value.into_string().map_err(|_| "is not UTF-8; allowed is a text in UTF-8".to_owned())?;
    let place = Place::Variable(name.to_owned());
    let rest = name.strip_prefix(PREFIX).unwrap_or_default();
    let mut found: Vec<(Vec<Step>, Value)> = Vec::new();
    for field in fields {
        for (length, step) in field.path.steps().iter().enumerate() {
            // A section can be begun with nothing in it, as `stdout: {}` in a file.
            let section = matches!(step, Step::Key(_)) && length + 1 < field.path.steps().len();
            if section && value == "{}" {
                let begun = paths(root, &field.path.steps()[..=length], rest);
                found.extend(begun.into_iter().map(|path| (path, Value::Map(Vec::new()))));
            }
        }
        let whole = paths(root, field.path.steps(), rest);
        found.extend(whole.into_iter().map(|path| (path, parse(&field.form, &value, &place))));
    }
    found.sort_by(|left, right| left.0.cmp(&right.0));
    found.dedup_by(|left, right| left.0 == right.0);
    match found.len() {
        0 => Err(unknown(root, fields, rest)),
        1 => {
            for (path, value) in found {
                set(root, &path, Node { place: place.clone(), value }, &place);
            }
            Ok(())
        }
        _ => {
            Err("fits more than one item of a list; write its number, from 0, instead of its name".to_owned())
        }
    }
}

/// Where the rest of a variable's name leads to, of all places that are documented as this path.
fn paths(node: &Node, steps: &[Step], rest: &str) -> Vec<Vec<Step>> {
    let Some((step, below)) = steps.split_first() else {
        return if rest.is_empty() { vec![Vec::new()] } else { Vec::new() };
    };
    let further = |rest: &str, node: &Node, step: Step| -> Vec<Vec<Step>> {
        let rest = if below.is_empty() { rest } else { rest.strip_prefix('_').unwrap_or("\0") };
        let found = paths(node, below, rest).into_iter();
        found.map(|path| [vec![step.clone()], path].concat()).collect()
    };
    let nothing = Node { place: Place::Environment, value: Value::Nothing };
    match step {
        Step::Key(key) => {
            let Some(rest) = rest.strip_prefix(&spelled(key)) else { return Vec::new() };
            let inner = match &node.value {
                Value::Map(entries) => {
                    entries.iter().find(|entry| entry.key == *key).map(|entry| &entry.node)
                }
                _ => None,
            };
            further(rest, inner.unwrap_or(&nothing), step.clone())
        }
        Step::Item(_) => {
            let items = match &node.value {
                Value::List(items) => items.as_slice(),
                _ => &[],
            };
            let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let number = rest[..digits].parse().ok().filter(|number| *number < MOST_ITEMS);
            let by_number = number.map(|number| (&rest[digits..], number));
            let by_name = items.iter().enumerate().filter_map(|(index, item)| {
                let name = name_of(item)?;
                Some((rest.strip_prefix(&spelled(name))?, index))
            });
            let all = by_number.into_iter().chain(by_name);
            all.flat_map(|(rest, index)| {
                further(rest, items.get(index).unwrap_or(&nothing), Step::Item(index))
            })
            .collect()
        }
    }
}

/// How an item of a list is called.
fn name_of(item: &Node) -> Option<&str> {
    let Value::Map(entries) = &item.value else { return None };
    let name = entries.iter().find(|entry| entry.key == "name")?;
    match &name.node.value {
        Value::Text(name) => Some(name),
        _ => None,
    }
}

/// In capitals, with `_` for whatever a variable cannot have.
fn spelled(name: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    name.chars().map(letter).collect()
}

/// Lists are separated by commas, and so are names with texts.
fn parse(form: &Form, text: &str, place: &Place) -> Value {
    let node = |text: &str| Node { place: place.clone(), value: Value::Text(text.trim().to_owned()) };
    match form {
        Form::List(_) => Value::List(text.split(',').map(node).collect()),
        Form::Pairs => Value::Map(
            text.split(',')
                .map(|pair| {
                    let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
                    Entry { key: key.trim().to_owned(), place: place.clone(), node: node(value) }
                })
                .collect(),
        ),
        _ => Value::Text(text.to_owned()),
    }
}

/// Puts a node where a path leads to, and makes the way there. What is in the way is wrong, and the file is blamed for it.
fn set(node: &mut Node, path: &[Step], new: Node, place: &Place) {
    let Some((step, below)) = path.split_first() else {
        *node = new;
        return;
    };
    let nothing = || Node { place: place.clone(), value: Value::Nothing };
    match step {
        Step::Key(key) => {
            if matches!(node.value, Value::Nothing) {
                node.value = Value::Map(Vec::new());
            }
            let Value::Map(entries) = &mut node.value else { return };
            let index = entries.iter().position(|entry| entry.key == *key).unwrap_or_else(|| {
                entries.push(Entry { key: key.clone(), place: place.clone(), node: nothing() });
                entries.len() - 1
            });
            if below.is_empty() {
                entries[index].place = place.clone();
            }
            set(&mut entries[index].node, below, new, place);
        }
        Step::Item(index) => {
            if matches!(node.value, Value::Nothing) {
                node.value = Value::List(Vec::new());
            }
            let Value::List(items) = &mut node.value else { return };
            while items.len() <= *index {
                items.push(nothing());
            }
            set(&mut items[*index], below, new, place);
        }
    }
}

fn unknown(root: &Node, fields: &[Field], rest: &str) -> String {
    let is_section = |field: &Field| {
        let steps = field.path.steps();
        (1..steps.len()).any(|length| !paths(root, &steps[..length], rest).is_empty())
    };
    if fields.iter().any(is_section) {
        return "names a section; allowed is {}, or a variable for one of its keys".to_owned();
    }
    let variable = |field: &Field| {
        let steps = field.path.steps().iter().map(|step| match step {
            Step::Key(key) => spelled(key),
            Step::Item(_) => "0".to_owned(),
        });
        steps.collect::<Vec<_>>().join("_")
    };
    let known: Vec<String> = fields.iter().map(variable).collect();
    match nearest(rest, known.iter().map(String::as_str)) {
        Some(near) => format!("names no key; did you mean {PREFIX}{near}?"),
        None => format!(
            "names no key; {PREFIX} and the path of a key in capitals is allowed, such as POSTHASTE_RELAY_LEASE"
        ),
    }
}
