//! A subscription: a named reader of the log, with its filter, order and policy.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{Error, Event, Result, RetryPolicy};

/// A named reader of the log. Each has its own cursor in every lane.
#[derive(Clone, Debug, PartialEq)]
pub struct Subscription {
    /// Its name: 1 to 100 letters, digits, `-`, `_` or `.`.
    pub name: String,
    /// Which events it wants.
    pub filter: Filter,
    /// Whether events of one key keep their order.
    pub order: Order,
    /// What happens to a key when one of its events dies.
    pub on_dead: OnDead,
    /// Where a new subscription begins.
    pub start: Start,
    /// How failed events are tried again.
    pub retry: RetryPolicy,
}

impl Subscription {
    /// A subscription to everything, from the beginning, in order.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            filter: Filter::default(),
            order: Order::default(),
            on_dead: OnDead::default(),
            start: Start::default(),
            retry: RetryPolicy::default(),
        }
    }

    /// Whether a relay that is configured so reads as everybody else: what is stored of a subscription are its filter, as JSON, and its
    /// order.
    #[must_use]
    pub fn is_stored_as(&self, filter: &str, order: &str) -> bool {
        serde_json::from_str::<Filter>(filter).ok().as_ref() == Some(&self.filter)
            && order == self.order.as_str()
    }

    /// Says what is wrong with it.
    pub fn validate(&self) -> Result<()> {
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if !(1..=100).contains(&self.name.len()) || !self.name.chars().all(allowed) {
            return Err(Error::invalid(format!(
                "subscription name {:?} is not allowed; use 1 to 100 letters, digits, '-', '_' or '.'",
                self.name
            )));
        }
        self.retry.validate()
    }
}

/// Which events a subscription wants. An empty list wants all.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Filter {
    /// The event types.
    #[serde(default)]
    pub types: Vec<Pattern>,
    /// The topics.
    #[serde(default)]
    pub topics: Vec<Pattern>,
}

impl Filter {
    /// Whether the subscription wants this event.
    #[must_use]
    pub fn matches(&self, event: &Event) -> bool {
        let any = |patterns: &[Pattern], text: &str| {
            patterns.is_empty() || patterns.iter().any(|pattern| pattern.matches(text))
        };
        any(&self.types, &event.event_type) && any(&self.topics, &event.topic)
    }
}

/// Text in which each `*` stands for any number of any characters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Pattern(String);

impl Pattern {
    /// The pattern written so.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Whether the whole text fits the pattern.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        let mut parts = self.0.split('*');
        // `split` yields at least one part: what stands before the first star.
        let Some(mut rest) = text.strip_prefix(parts.next().unwrap_or_default()) else { return false };
        let mut parts = parts.peekable();
        if parts.peek().is_none() {
            return rest.is_empty();
        }
        while let Some(part) = parts.next() {
            if parts.peek().is_none() {
                return rest.ends_with(part);
            }
            match rest.find(part) {
                Some(at) => rest = &rest[at + part.len()..],
                None => return false,
            }
        }
        true
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

macro_rules! word_enum {
    ($(#[$meta:meta])* $name:ident, $what:literal { $($(#[$variant_meta:meta])* $variant:ident = $text:literal),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum $name { $($(#[$variant_meta])* $variant),* }

        impl $name {
            /// The word as it is written and stored.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),* }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl FromStr for $name {
            type Err = Error;

            fn from_str(text: &str) -> Result<Self> {
                match text {
                    $($text => Ok(Self::$variant),)*
                    _ => Err(Error::invalid(format!("{text:?} is no {}; allowed are {}", $what, [$($text),*].join(", ")))),
                }
            }
        }
    };
}

word_enum! {
    /// Whether events of one key keep their order.
    Order, "order" {
        /// Events of one key are delivered in log order.
        #[default]
        Key = "key",
        /// No order: a failing event stops nothing but itself.
        None = "none",
    }
}

word_enum! {
    /// What happens to a key when one of its events becomes a dead letter.
    OnDead, "on_dead" {
        /// The next event of the key goes.
        #[default]
        Continue = "continue",
        /// The key waits until a person has replayed or discarded the dead letter.
        Hold = "hold",
    }
}

word_enum! {
    /// Where a new subscription begins.
    Start, "start" {
        /// With everything the log still has.
        #[default]
        Beginning = "beginning",
        /// With what is published from now on.
        Now = "now",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_any_text() {
        let cases = [
            ("user.created", "user.created", true),
            ("user.created", "user.created.v2", false),
            ("user.*", "user.created", true),
            ("user.*", "user.", true),
            ("user.*", "users.created", false),
            ("*", "", true),
            ("*.created", "order.created", true),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c-b", false),
            ("a*a", "a", false),
            ("", "", true),
            ("", "x", false),
        ];
        for (pattern, text, expected) in cases {
            assert_eq!(Pattern::new(pattern).matches(text), expected, "{pattern:?} against {text:?}");
        }
    }

    #[test]
    fn names_are_checked() {
        for good in ["kafka", "a.b-c_9"] {
            assert!(Subscription::new(good).validate().is_ok());
        }
        for bad in ["", "with space", "über", &"x".repeat(101)] {
            assert!(Subscription::new(bad).validate().unwrap_err().to_string().contains("subscription name"));
        }
    }
}
