//! What is hidden of payloads wherever they leave the server.

use posthaste::{Error, Result};
use serde_json::Value;

/// What is shown instead.
const VEIL: &str = "***";

/// The fields of payloads that are never shown.
#[derive(Clone, Debug, Default)]
pub struct Redaction(Vec<Vec<Step>>);

/// One step into a payload. Lists are no step: what is said of a field holds for each item.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    /// The field of this name.
    Name(String),
    /// Any field.
    Any,
    /// Any number of fields, none included.
    Rest,
}

/// A payload as it may be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) text: String,
    /// Whether something was hidden.
    pub(crate) redacted: bool,
}

impl Redaction {
    /// Hides what these paths name: `card.number`, `*.password` (any field's), `**.password` (at any depth).
    pub fn new<'p>(paths: impl IntoIterator<Item = &'p str>) -> Result<Self> {
        paths.into_iter().map(parse).collect::<Result<_>>().map(Self)
    }

    /// The payload without what is hidden. What is not JSON has no fields, and what has nothing to hide is left as it was written.
    pub(crate) fn show(&self, payload: String) -> Shown {
        if self.0.is_empty() {
            return Shown { text: payload, redacted: false };
        }
        let Ok(mut value) = serde_json::from_str::<Value>(&payload) else {
            return Shown { text: payload, redacted: false };
        };
        let mut redacted = false;
        for path in &self.0 {
            visit(&mut value, path, &mut |value| {
                *value = Value::from(VEIL);
                redacted = true;
            });
        }
        let text = if redacted { value.to_string() } else { payload };
        Shown { text, redacted }
    }

    /// Whether a payload has the veil where something would be hidden: somebody sends back what he was shown.
    pub(crate) fn is_veiled(&self, payload: &str) -> bool {
        let Ok(mut value) = serde_json::from_str::<Value>(payload) else { return false };
        let mut veiled = false;
        for path in &self.0 {
            visit(&mut value, path, &mut |value| veiled |= value.as_str() == Some(VEIL));
        }
        veiled
    }
}

/// Whether a text is a path.
#[must_use]
pub fn is_path(text: &str) -> bool {
    parse(text).is_ok()
}

fn parse(path: &str) -> Result<Vec<Step>> {
    let step = |step: &str| match step {
        "" => None,
        "*" => Some(Step::Any),
        "**" => Some(Step::Rest),
        name => Some(Step::Name(name.to_owned())),
    };
    let steps: Option<Vec<Step>> = path.split('.').map(step).collect();
    match steps {
        Some(steps) if steps.last() != Some(&Step::Rest) => Ok(steps),
        _ => Err(Error::invalid(format!(
            "{path:?} is no path to a field; write names with dots between them, such as card.number, *.password or **.password"
        ))),
    }
}

fn visit(value: &mut Value, path: &[Step], hide: &mut impl FnMut(&mut Value)) {
    let Some((step, rest)) = path.split_first() else {
        hide(value);
        return;
    };
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| visit(item, path, hide)),
        Value::Object(fields) => {
            if *step == Step::Rest {
                fields.values_mut().for_each(|field| visit(field, path, hide));
                visit(value, rest, hide);
                return;
            }
            for (name, field) in fields {
                if matches!(step, Step::Any) || matches!(step, Step::Name(wanted) if wanted == name) {
                    visit(field, rest, hide);
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(paths: &[&str], payload: &str, expected: &str) {
        let redaction = Redaction::new(paths.iter().copied()).unwrap();
        let shown = redaction.show(payload.to_owned());
        assert_eq!((shown.text.as_str(), shown.redacted), (expected, payload != expected));
        assert_eq!(redaction.is_veiled(expected), shown.redacted, "{expected}");
    }

    #[test]
    fn hides_what_the_paths_name_and_nothing_else() {
        let card = r#"{"card":{"number":"4111","owner":"Ada"},"number":7}"#;
        check(&["card.number"], card, r#"{"card":{"number":"***","owner":"Ada"},"number":7}"#);
        check(&["card"], card, r#"{"card":"***","number":7}"#);
        check(&["number"], card, r#"{"card":{"number":"4111","owner":"Ada"},"number":"***"}"#);
        check(&["*.number"], card, r#"{"card":{"number":"***","owner":"Ada"},"number":7}"#);
        check(&["**.number"], card, r#"{"card":{"number":"***","owner":"Ada"},"number":"***"}"#);
        check(&["a.b"], r#"[{"a":[{"b":1},{"b":[2]},3]}]"#, r#"[{"a":[{"b":"***"},{"b":"***"},3]}]"#);
        check(&["**.b"], r#"{"a":[[{"b":{"b":1}}]]}"#, r#"{"a":[[{"b":"***"}]]}"#);
    }

    #[test]
    fn what_has_nothing_to_hide_stays_as_it_was_written() {
        check(
            &["card"],
            r#"{ "price": 1.10, "n": 123456789012345678901234567890 }"#,
            r#"{ "price": 1.10, "n": 123456789012345678901234567890 }"#,
        );
        check(&["card"], "not json, card: 4111", "not json, card: 4111");
        check(&[], r#"{"card":1}"#, r#"{"card":1}"#);
    }

    #[test]
    fn a_key_that_is_there_twice_is_hidden_twice() {
        check(&["a"], r#"{"a":1,"a":2}"#, r#"{"a":"***"}"#);
    }

    #[test]
    fn paths_that_name_nothing_are_refused() {
        for bad in ["", ".", "a.", ".a", "a..b", "**", "a.**"] {
            assert!(!is_path(bad), "{bad}");
        }
    }
}
