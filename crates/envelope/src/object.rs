//! Adds members to a JSON object in text, without reading it where that is not needed: on the way to a broker every
//! payload passes here, and hardly any has a member that is called like one of ours.

use std::{borrow::Cow, fmt};

use serde::{
    Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;

const MESSAGE_ID: &str = "messageId";
const METADATA: &str = "metadata";
const OUTBOX_ID: &str = "outbox_id";
const SEQUENCE_NUMBER: &str = "sequence_number";

/// The facts that are added to a payload, as texts that JSON need not escape.
#[derive(Clone, Copy)]
pub(crate) struct Facts<'a> {
    pub(crate) id: &'a str,
    pub(crate) number: &'a str,
}

/// Which of the facts a value has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    Nothing,
    /// The number is missing: the payload has something else where it would stand.
    Id,
    Everything,
}

/// Appends the payload with the facts in it, and answers which. If it is no JSON object nothing is written.
pub(crate) fn write(buffer: &mut Vec<u8>, payload: &str, facts: Facts<'_>) -> Told {
    let Some(inside) = inside(payload) else { return Told::Nothing };
    if !has_one(inside, "\"me", &[MESSAGE_ID, METADATA]) {
        begin(buffer, inside);
        write_message_id(buffer, facts);
        buffer.push(b',');
        write_metadata(buffer, "", facts);
        buffer.push(b'}');
        return Told::Everything;
    }
    let Some(members) = members(payload) else { return Told::Nothing };
    buffer.push(b'{');
    let (mut metadata, mut told) = (false, Told::Everything);
    for (name, value) in members.iter().filter(|(name, _)| name != MESSAGE_ID) {
        if name == METADATA {
            metadata = true;
            match self::inside(value.get()) {
                Some(inside) => write_metadata(buffer, inside, facts),
                None => {
                    write_member(buffer, name, value);
                    told = Told::Id;
                }
            }
        } else {
            write_member(buffer, name, value);
        }
        buffer.push(b',');
    }
    write_message_id(buffer, facts);
    if !metadata {
        buffer.push(b',');
        write_metadata(buffer, "", facts);
    }
    buffer.push(b'}');
    told
}

/// What stands between the braces of an object, which is taken for whole: the log has read it.
fn inside(text: &str) -> Option<&str> {
    text.trim_ascii().strip_prefix('{')?.strip_suffix('}').map(str::trim_ascii)
}

/// Whether one of the names, which all begin so, stands in quotes anywhere in the text.
fn has_one(text: &str, beginning: &str, names: &[&str]) -> bool {
    text.match_indices(beginning).any(|(at, _)| {
        let quoted = &text[at + 1..];
        names.iter().any(|name| quoted.strip_prefix(name).is_some_and(|rest| rest.starts_with('"')))
    })
}

/// The brace, what was inside, and a comma if there was something.
fn begin(buffer: &mut Vec<u8>, inside: &str) {
    buffer.push(b'{');
    buffer.extend_from_slice(inside.as_bytes());
    if !inside.is_empty() {
        buffer.push(b',');
    }
}

fn write_message_id(buffer: &mut Vec<u8>, facts: Facts<'_>) {
    write_parts(buffer, &["\"", MESSAGE_ID, "\":\"", facts.id, "\""]);
}

/// The member `metadata`: what was inside, and the facts.
fn write_metadata(buffer: &mut Vec<u8>, inside: &str, facts: Facts<'_>) {
    write_parts(buffer, &["\"", METADATA, "\":"]);
    if has_one(inside, "\"", &[OUTBOX_ID, SEQUENCE_NUMBER]) {
        buffer.push(b'{');
        for (name, value) in members(&format!("{{{inside}}}")).unwrap_or_default() {
            if name != OUTBOX_ID && name != SEQUENCE_NUMBER {
                write_member(buffer, &name, value);
                buffer.push(b',');
            }
        }
    } else {
        begin(buffer, inside);
    }
    write_parts(buffer, &["\"", OUTBOX_ID, "\":\"", facts.id, "\",\""]);
    write_parts(buffer, &[SEQUENCE_NUMBER, "\":", facts.number, "}"]);
}

fn write_member(buffer: &mut Vec<u8>, name: &str, value: &RawValue) {
    // Text is always written.
    let _ = serde_json::to_writer(&mut *buffer, name);
    write_parts(buffer, &[":", value.get()]);
}

fn write_parts(buffer: &mut Vec<u8>, parts: &[&str]) {
    for part in parts {
        buffer.extend_from_slice(part.as_bytes());
    }
}

/// The members in their order, each with its value as it stands.
type Members<'a> = Vec<(Cow<'a, str>, &'a RawValue)>;

fn members(text: &str) -> Option<Members<'_>> {
    struct Collect;

    impl<'de> Visitor<'de> for Collect {
        type Value = Members<'de>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut members = Vec::new();
            while let Some((name, value)) = map.next_entry::<String, &RawValue>()? {
                members.push((Cow::Owned(name), value));
            }
            Ok(members)
        }
    }

    serde_json::Deserializer::from_str(text).deserialize_map(Collect).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FACTS: Facts<'static> = Facts { id: "e-1", number: "5" };

    fn written(payload: &str) -> Option<String> {
        let mut buffer = Vec::new();
        let told = write(&mut buffer, payload, FACTS);
        (told != Told::Nothing).then(|| String::from_utf8(buffer).unwrap())
    }

    #[test]
    fn the_facts_are_added_and_what_was_there_stays_as_it_was() {
        const ADDED: &str = r#""messageId":"e-1","metadata":{"outbox_id":"e-1","sequence_number":5}}"#;
        let cases = [
            ("{}", "{".to_owned()),
            (" {\n } ", "{".to_owned()),
            (r#"{"n": 1.50}"#, r#"{"n": 1.50,"#.to_owned()),
            (" {\"n\":12345678901234567890 }\n", r#"{"n":12345678901234567890,"#.to_owned()),
            (r#"{"message":"metadata","méta":{}}"#, r#"{"message":"metadata","méta":{},"#.to_owned()),
            (r#"{"in":{"metadata":1,"messageId":2}}"#, r#"{"in":{"metadata":1,"messageId":2},"#.to_owned()),
            (r#"{"t":"a \"metadata\" b"}"#, r#"{"t":"a \"metadata\" b","#.to_owned()),
        ];
        for (payload, before) in cases {
            let written = written(payload).unwrap();
            assert_eq!(written, format!("{before}{ADDED}"), "{payload}");
            assert!(serde_json::from_str::<serde_json::Value>(&written).is_ok(), "{written}");
        }
    }

    #[test]
    fn metadata_of_the_payload_is_kept_and_ours_is_added() {
        let cases = [
            (
                r#"{"metadata":{"by":"Ada"},"n":1}"#,
                r#"{"metadata":{"by":"Ada","outbox_id":"e-1","sequence_number":5},"n":1,"messageId":"e-1"}"#,
            ),
            (
                r#"{"metadata": {} }"#,
                r#"{"metadata":{"outbox_id":"e-1","sequence_number":5},"messageId":"e-1"}"#,
            ),
            (
                r#"{"metadata":{"outbox_id":"x","a":1,"sequence_number":9}}"#,
                r#"{"metadata":{"a":1,"outbox_id":"e-1","sequence_number":5},"messageId":"e-1"}"#,
            ),
            (r#"{"metadata":"text"}"#, r#"{"metadata":"text","messageId":"e-1"}"#),
            (
                r#"{"messageId":"other","n":1}"#,
                r#"{"n":1,"messageId":"e-1","metadata":{"outbox_id":"e-1","sequence_number":5}}"#,
            ),
        ];
        for (payload, expected) in cases {
            assert_eq!(written(payload).as_deref(), Some(expected), "{payload}");
        }
    }

    #[test]
    fn what_is_no_object_is_left_alone() {
        for payload in ["", "null", "5", "\"{}\"", "[{}]", "{", "{\"metadata\": }"] {
            assert_eq!(written(payload), None, "{payload}");
        }
    }
}
