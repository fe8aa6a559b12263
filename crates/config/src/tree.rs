//! A YAML file as a tree in which every value knows its line.
//!
//! Reading straight into structs would stop at the first thing that is wrong. The tree is read whole, and then asked; what is
//! wrong with one value does not hide the next. Scalars keep the text as it is written: whether `007` is a number is for
//! whoever asks for it to say.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{self, MapAccess, SeqAccess, Visitor},
};
use serde_saphyr::{DuplicateKeyPolicy, Error, Spanned, options::NonFiniteFloatPolicy};

use crate::problem::{Place, Problem};

/// A value and where it is.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) place: Place,
    pub(crate) value: Value,
}

/// What can stand in a file.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// A key with nothing behind it.
    Nothing,
    Text(String),
    List(Vec<Node>),
    Map(Vec<Entry>),
}

/// A key with its value.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) key: String,
    /// Where the key is.
    pub(crate) place: Place,
    pub(crate) node: Node,
}

/// Nobody nests a configuration deeper; a deeper one would only use up the stack.
const DEEPEST: usize = 32;

/// Nobody writes a longer one; a longer one is another file.
const LONGEST: usize = 1 << 20;

/// Reads a text. What is no YAML has one problem only: behind it nothing can be trusted.
pub(crate) fn parse(text: &str) -> Result<Node, Problem> {
    if text.len() > LONGEST {
        let text = format!("the file has {} bytes; allowed are up to {LONGEST}", text.len());
        return Err(Problem { place: Place::Line(1), text });
    }
    // Some editors put a mark before the first character that nobody sees.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! { max_depth: DEEPEST, flow_nesting_limit: DEEPEST },
        duplicate_keys: DuplicateKeyPolicy::Error,
        non_finite_float_policy: NonFiniteFloatPolicy::PassThrough,
        strict_booleans: true,
        // It would show the line, and the line may have a password.
        with_snippet: false,
    };
    let raw: Spanned<Raw> =
        serde_saphyr::from_str_with_options(text, options).map_err(|error| explain(&error))?;
    Ok(node(&raw, text))
}

/// The parser's words, where they are good for somebody who writes a file and not a program.
fn explain(error: &Error) -> Problem {
    let line = error.location().map_or(1, |location| location.line().max(1));
    let text = match error.without_snippet() {
        Error::DuplicateMappingKey { key, .. } => {
            let key = key.as_deref().unwrap_or("a key");
            format!("{key} is written twice; once is allowed")
        }
        Error::MultipleDocuments { .. } => "a second document begins here; one is allowed".to_owned(),
        Error::Budget { .. } => format!("too much, or nested deeper than {DEEPEST}"),
        other => {
            let said = other.to_string();
            let said = said.rsplit_once(" at line ").map_or(said.as_str(), |(said, _)| said);
            format!("this is no YAML: {said}")
        }
    };
    Problem { place: Place::Line(line), text }
}

/// A value as the parser gives it. It decides by its own rules what is a number; the text is taken from the file.
enum Raw {
    Nothing,
    Text(String),
    /// A number or a truth value, which is never quoted.
    Plain,
    List(Vec<Spanned<Raw>>),
    Map(Vec<(Spanned<String>, Spanned<Raw>)>),
}

fn node(raw: &Spanned<Raw>, text: &str) -> Node {
    let value = match &raw.value {
        Raw::Nothing => Value::Nothing,
        Raw::Text(text) => Value::Text(text.clone()),
        Raw::Plain => Value::Text(written(raw, text).to_owned()),
        Raw::List(items) => Value::List(items.iter().map(|item| node(item, text)).collect()),
        Raw::Map(entries) => Value::Map(entries.iter().map(|(key, value)| entry(key, value, text)).collect()),
    };
    Node { place: Place::Line(raw.referenced.line()), value }
}

fn entry(key: &Spanned<String>, value: &Spanned<Raw>, text: &str) -> Entry {
    Entry { key: key.value.clone(), place: Place::Line(key.referenced.line()), node: node(value, text) }
}

/// What stands in the file for this value, where the parser says it is defined.
fn written<'t>(raw: &Spanned<Raw>, text: &'t str) -> &'t str {
    let span = raw.defined.span();
    let bytes = span.byte_offset().zip(span.byte_len()).and_then(|(offset, length)| {
        let (offset, length) = (usize::try_from(offset).ok()?, usize::try_from(length).ok()?);
        text.get(offset..offset.checked_add(length)?)
    });
    bytes.unwrap_or_default().trim()
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Anything)
    }
}

/// Takes whatever is there.
struct Anything;

impl<'de> Visitor<'de> for Anything {
    type Value = Raw;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, a list or keys with values")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Raw, E> {
        Ok(Raw::Nothing)
    }

    fn visit_bool<E: de::Error>(self, _: bool) -> Result<Raw, E> {
        Ok(Raw::Plain)
    }

    fn visit_i64<E: de::Error>(self, _: i64) -> Result<Raw, E> {
        Ok(Raw::Plain)
    }

    fn visit_u64<E: de::Error>(self, _: u64) -> Result<Raw, E> {
        Ok(Raw::Plain)
    }

    fn visit_i128<E: de::Error>(self, _: i128) -> Result<Raw, E> {
        Ok(Raw::Plain)
    }

    fn visit_u128<E: de::Error>(self, _: u128) -> Result<Raw, E> {
        Ok(Raw::Plain)
    }

    fn visit_f64<E: de::Error>(self, _: f64) -> Result<Raw, E> {
        Ok(Raw::Plain)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Raw, E> {
        Ok(Raw::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Raw, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Raw::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Raw, A::Error> {
        let mut map = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            map.push(entry);
        }
        Ok(Raw::Map(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The scalars of a map with their lines.
    fn texts(text: &str) -> Vec<(Place, String, String)> {
        let Value::Map(entries) = parse(text).unwrap().value else { panic!("no map") };
        let text = |value: &Value| match value {
            Value::Text(text) => text.clone(),
            other => format!("{other:?}"),
        };
        entries
            .iter()
            .map(|entry| (entry.place.clone(), entry.key.clone(), text(&entry.node.value)))
            .collect()
    }

    #[test]
    fn scalars_keep_the_text_that_was_written() {
        for written in
            ["007", "1.10", "0x10", "yes", "true", ".nan", "2026-01-01", "15s", "99999999999999999999999"]
        {
            assert_eq!(
                texts(&format!("ö: {written}\n")),
                [(Place::Line(1), "ö".to_owned(), written.to_owned())]
            );
        }
        assert_eq!(texts("a: \"x\\ty\"\nb: 'it''s'\n")[1].2, "it's");
        assert_eq!(texts("a: &x 1.50\nb: *x\n")[1], (Place::Line(2), "b".to_owned(), "1.50".to_owned()));
    }

    #[test]
    fn nothing_of_a_broken_line_is_shown() {
        let cases = [
            ("a: 1\na: 2\n", "line 2: a is written twice; once is allowed"),
            ("a: 1\n---\nb: 2\n", "line 3: a second document begins here; one is allowed"),
            ("a: 1\npassword: [hunter2\n", "line 2: this is no YAML: unclosed bracket '['"),
            ("password: *hunter2\n", "line 1: this is no YAML: alias references unknown anchor"),
            (
                "password: hunter2: x\n",
                "line 1: this is no YAML: mapping values are not allowed in this context",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(parse(text).unwrap_err().to_string(), expected);
        }
        let deep = format!("a: {}{}", "[".repeat(100), "]".repeat(100));
        assert_eq!(
            parse(&deep).unwrap_err().to_string(),
            "line 1: this is no YAML: recursion limit exceeded"
        );
        let deep: String = (0..100).map(|depth| format!("{:depth$}a:\n", "")).collect();
        assert!(parse(&deep).unwrap_err().text.contains("nested deeper than 32"));
    }
}
