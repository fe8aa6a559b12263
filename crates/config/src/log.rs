//! `log`: what the program says of itself, and how.

use crate::{
    kind::{self, Kind},
    section::Section,
};

/// What `log` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logging {
    /// What is logged: a level, also by module.
    pub level: String,
    /// What a line looks like.
    pub format: LogFormat,
}

/// What a line of the log looks like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// For programs: a JSON object a line.
    Json,
}

/// What is logged unless told otherwise.
pub const DEFAULT_LEVEL: &str = "info";

const FORMATS: [(&str, LogFormat); 2] = [("text", LogFormat::Text), ("json", LogFormat::Json)];
const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

impl LogFormat {
    /// The format of this name.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        FORMATS.iter().find(|(name, _)| *name == word).map(|(_, format)| *format)
    }
}

pub(crate) fn read(section: Section<'_>) -> Logging {
    let logging = Logging {
        level: section.or("level", &level(), DEFAULT_LEVEL.to_owned()),
        format: section.or("format", &kind::word(&FORMATS), LogFormat::default()),
    };
    section.end();
    logging
}

fn level() -> Kind<String> {
    kind::matching(
        "off, error, warn, info, debug or trace, also by module as in warn,posthaste_relay=debug",
        is_level,
    )
}

/// Whether a text says what to log: a level, or levels by module.
#[must_use]
pub fn is_level(text: &str) -> bool {
    let module = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
    text.split(',').all(|part| {
        let (target, level) = part.trim().rsplit_once('=').unwrap_or(("x", part.trim()));
        LEVELS.contains(&level.to_ascii_lowercase().as_str())
            && !target.is_empty()
            && target.chars().all(module)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_words_also_by_module() {
        for good in ["info", "OFF", "warn,posthaste_relay=debug", "rdkafka::client=error"] {
            assert!(is_level(good), "{good}");
        }
        for bad in ["", "loud", "info,", "=debug", "a b=info", "posthaste=[x]"] {
            assert!(!is_level(bad), "{bad}");
        }
    }
}
