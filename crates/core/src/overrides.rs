//! What a single event changes of the retry policy, and how that is written in its row.
//!
//! Other programs write it too, in plain SQL, so it is for people: `{"max_attempts": 3, "base": "200ms", "max": "1m"}`. What is
//! not understood is an error and never ignored: a policy that was misspelt would hold without a word.

use std::{fmt, time::Duration};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::{Error, Result};

/// What a single event changes of the policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[serde(into = "Written")]
pub struct RetryOverrides {
    /// Instead of [`RetryPolicy::max_attempts`](crate::RetryPolicy::max_attempts).
    pub max_attempts: Option<u32>,
    /// Instead of [`RetryPolicy::base`](crate::RetryPolicy::base).
    pub base: Option<Duration>,
    /// Instead of [`RetryPolicy::multiplier`](crate::RetryPolicy::multiplier).
    pub multiplier: Option<f64>,
    /// Instead of [`RetryPolicy::max`](crate::RetryPolicy::max).
    pub max: Option<Duration>,
}

impl RetryOverrides {
    /// Says everything that is wrong with them.
    pub fn validate(&self) -> Result<()> {
        let problems = self.problems();
        if problems.is_empty() { Ok(()) } else { Err(Error::invalid(problems.join("; "))) }
    }

    pub(crate) fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        if self.max_attempts == Some(0) {
            problems.push("max_attempts is 0; it must be at least 1".to_owned());
        }
        for (name, time) in [("base", self.base), ("max", self.max)] {
            if time.is_some_and(|time| time.is_zero()) {
                problems.push(format!("{name} is 0; a retry has to wait"));
            }
        }
        if let (Some(base), Some(max)) = (self.base, self.max)
            && base > max
        {
            problems.push(format!("base is {base:?} and max {max:?}; base <= max is needed"));
        }
        if let Some(multiplier) = self.multiplier.filter(|factor| !(factor.is_finite() && *factor >= 1.0)) {
            problems.push(format!("multiplier is {multiplier}; it must be 1 or more"));
        }
        problems
    }
}

/// The overrides as they stand in a row.
#[derive(Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Written {
    #[serde(skip_serializing_if = "Option::is_none")]
    max_attempts: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    base: Option<Span>,
    #[serde(skip_serializing_if = "Option::is_none")]
    multiplier: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max: Option<Span>,
}

impl<'de> Deserialize<'de> for RetryOverrides {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        /// Only an object: of a list nobody could say what is meant.
        struct AsObject;

        impl<'de> de::Visitor<'de> for AsObject {
            type Value = Written;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> std::result::Result<Written, A::Error> {
                Written::deserialize(de::value::MapAccessDeserializer::new(map))
            }
        }

        let Written { max_attempts, base, multiplier, max } = deserializer.deserialize_map(AsObject)?;
        let overrides =
            Self { max_attempts, base: base.map(|span| span.0), multiplier, max: max.map(|span| span.0) };
        overrides.validate().map_err(de::Error::custom)?;
        Ok(overrides)
    }
}

impl From<RetryOverrides> for Written {
    fn from(overrides: RetryOverrides) -> Self {
        let RetryOverrides { max_attempts, base, multiplier, max } = overrides;
        Self { max_attempts, base: base.map(Span), multiplier, max: max.map(Span) }
    }
}

/// A span of time as people write it.
struct Span(Duration);

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(&humantime::format_duration(self.0))
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct AsText;

        impl de::Visitor<'_> for AsText {
            type Value = Span;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a time as text, such as \"200ms\" or \"1m 30s\"")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> std::result::Result<Span, E> {
                let span = humantime::parse_duration(text);
                span.map(Span).map_err(|_| E::invalid_value(de::Unexpected::Str(text), &self))
            }
        }

        deserializer.deserialize_str(AsText)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_written_for_people_and_read_as_it_was_written() {
        let all = RetryOverrides {
            max_attempts: Some(3),
            base: Some(Duration::from_millis(1_500)),
            multiplier: Some(1.5),
            max: Some(Duration::new(40 * 86_400, 7)),
        };
        let some = RetryOverrides { base: Some(Duration::from_millis(200)), ..RetryOverrides::default() };

        for overrides in [all, some, RetryOverrides::default()] {
            let text = serde_json::to_string(&overrides).unwrap();
            assert_eq!(serde_json::from_str::<RetryOverrides>(&text).unwrap(), overrides, "{text}");
        }
        assert_eq!(serde_json::to_string(&some).unwrap(), r#"{"base":"200ms"}"#);
        let people = r#" {"max_attempts": 3, "base": "1s 500ms", "multiplier": 1.5, "max": "40days 7ns"} "#;
        assert_eq!(serde_json::from_str::<RetryOverrides>(people).unwrap(), all);
    }

    #[test]
    fn what_is_not_understood_or_makes_no_sense_is_told() {
        let cases = [
            (r#"{"attempts": 3}"#, "unknown field `attempts`, expected one of `max_attempts`"),
            (r#"{"max_attempts": 0}"#, "max_attempts is 0"),
            (r#"{"max_attempts": -1}"#, "-1"),
            (r#"{"max_attempts": "3"}"#, "string \"3\""),
            (r#"{"base": 200}"#, "a time as text, such as \"200ms\""),
            (r#"{"base": "soon"}"#, "string \"soon\", expected a time as text"),
            (r#"{"base": {"secs": 1, "nanos": 0}}"#, "a time as text"),
            (r#"{"base": "0s"}"#, "base is 0"),
            (r#"{"base": "2m", "max": "1m"}"#, "base <= max"),
            (r#"{"multiplier": 0.5}"#, "multiplier is 0.5; it must be 1 or more"),
            (r#"{"multiplier": 1e999}"#, "number out of range"),
            (r#"{"base": "1s", "base": "2s"}"#, "duplicate field `base`"),
            ("[3]", "invalid type: sequence, expected a JSON object"),
            ("3", "expected a JSON object"),
            ("null", "expected a JSON object"),
            ("{", "EOF"),
        ];
        for (json, part) in cases {
            let error = serde_json::from_str::<RetryOverrides>(json).unwrap_err().to_string();
            assert!(error.contains(part), "{json}: {error}");
        }
        let two = RetryOverrides { max_attempts: Some(0), multiplier: Some(f64::NAN), ..Default::default() };
        let message = two.validate().unwrap_err().to_string();
        assert!(message.contains("max_attempts") && message.contains("multiplier"), "{message}");
    }
}
