//! JSON for programs, and JSON of events for people.
//!
//! Payloads are never read into values and written again: a number with many digits, or keys in an order that somebody cares about,
//! would not come out as they went in.

use anyhow::Context;
use posthaste::Timestamp;
use serde::{Serialize, de::IgnoredAny};
use serde_json::Value;

use super::time::stamp;

/// An answer in one line.
pub(crate) fn json_line(answer: &impl Serialize) -> anyhow::Result<String> {
    Ok(format!("{}\n", value(answer)?))
}

/// An answer in many lines.
pub(crate) fn json_pretty(answer: &impl Serialize) -> anyhow::Result<String> {
    Ok(format!("{:#}\n", value(answer)?))
}

fn value(answer: &impl Serialize) -> anyhow::Result<Value> {
    let mut value = serde_json::to_value(answer).context("cannot write the answer as JSON")?;
    write_times(&mut value);
    Ok(value)
}

/// Times are microseconds in the library, and texts for everybody else, as in the API.
fn write_times(value: &mut Value) {
    match value {
        Value::Array(list) => list.iter_mut().for_each(write_times),
        Value::Object(fields) => {
            for (name, field) in fields {
                match field.as_i64().filter(|_| is_time(name)) {
                    Some(time) => *field = stamp(Timestamp(time)).into(),
                    None => write_times(field),
                }
            }
        }
        _ => {}
    }
}

/// Fields of events and answers are named after what they are. (Headers and payloads are texts, whatever their names.)
fn is_time(name: &str) -> bool {
    matches!(name, "at" | "now")
        || ["_at", "_after", "_before", "_until"].iter().any(|ending| name.ends_with(ending))
}

/// JSON with a line for each value; none if the text is not JSON.
pub(crate) fn pretty(text: &str) -> Option<String> {
    serde_json::from_str::<IgnoredAny>(text).ok()?;
    let mut written = String::new();
    let mut depth = 0;
    let line = |written: &mut String, depth: usize| {
        written.push('\n');
        written.push_str(&"  ".repeat(depth));
    };
    for token in tokens(text) {
        match token {
            "{" | "[" => {
                written.push_str(token);
                depth += 1;
                line(&mut written, depth);
            }
            "}" | "]" => {
                depth = usize::saturating_sub(depth, 1);
                // What is empty stays in one line.
                let inner = written.trim_end();
                if inner.ends_with(['{', '[']) {
                    written.truncate(inner.len());
                } else {
                    line(&mut written, depth);
                }
                written.push_str(token);
            }
            "," => {
                written.push(',');
                line(&mut written, depth);
            }
            ":" => written.push_str(": "),
            token => written.push_str(token),
        }
    }
    Some(written)
}

/// JSON without spaces between its parts; the text itself if it is not JSON.
pub(crate) fn compact(text: &str) -> String {
    match serde_json::from_str::<IgnoredAny>(text) {
        Ok(_) => tokens(text).concat(),
        Err(_) => text.to_owned(),
    }
}

/// The parts of valid JSON, as they are written.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let end = match first {
            '{' | '}' | '[' | ']' | ',' | ':' => 1,
            '"' => end_of_string(rest),
            _ => rest.find([',', ':', '}', ']', ' ', '\t', '\r', '\n']).unwrap_or(rest.len()),
        };
        tokens.push(&rest[..end]);
        rest = rest[end..].trim_start();
    }
    tokens
}

fn end_of_string(text: &str) -> usize {
    let mut escaped = false;
    for (index, c) in text.char_indices().skip(1) {
        match c {
            '"' if !escaped => return index + 1,
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_payload_is_spread_out_and_put_together_as_it_was_written() {
        let text = r#"{"z":[1.0,2e400,{}],"a":{"b":"x, \"y\\\": {","c":[]},"n":12345678901234567890123}"#;
        let pretty = pretty(text).unwrap();
        let expected = r#"{
  "z": [
    1.0,
    2e400,
    {}
  ],
  "a": {
    "b": "x, \"y\\\": {",
    "c": []
  },
  "n": 12345678901234567890123
}"#;
        assert_eq!(pretty, expected);
        assert_eq!(compact(&pretty), text);
        assert_eq!(super::pretty("{"), None);
        assert_eq!(compact("not json"), "not json");
        assert_eq!(super::pretty(" 5 ").as_deref(), Some("5"));
    }

    #[test]
    fn times_are_texts_and_only_times() {
        let answer = json!({ "at": 0, "list": [{ "created_at": 1_000_000, "position": 7 }], "due_at": null });
        let line = json_line(&answer).unwrap();
        let told = json!({
            "at": "1970-01-01T00:00:00.000000Z",
            "list": [{ "created_at": "1970-01-01T00:00:01.000000Z", "position": 7 }],
            "due_at": null,
        });
        assert_eq!(serde_json::from_str::<serde_json::Value>(&line).unwrap(), told);
        assert!(line.ends_with("}\n") && line.lines().count() == 1, "{line}");
    }
}
