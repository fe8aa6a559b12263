//! Made-up surroundings, and files that are fine but for one thing.

use std::{collections::HashMap, ffi::OsString, io, path::Path};

use posthaste_config::{Config, Environment};

/// Variables and files that were made up.
#[derive(Default)]
pub(crate) struct Made(pub(crate) HashMap<&'static str, &'static str>);

impl Environment for Made {
    fn variable(&self, name: &str) -> Option<String> {
        self.0.get(name).map(ToString::to_string)
    }

    fn file(&self, path: &Path) -> io::Result<String> {
        self.0.get(path.to_str().unwrap()).map(ToString::to_string).ok_or(io::ErrorKind::NotFound.into())
    }

    fn variables(&self) -> Vec<(String, OsString)> {
        self.0.iter().map(|(name, value)| ((*name).to_owned(), OsString::from(*value))).collect()
    }
}

#[track_caller]
pub(crate) fn parse(text: &str) -> Config {
    Config::parse(text, &Made::default()).unwrap()
}

pub(crate) fn problems(text: &str) -> Vec<String> {
    let problems = Config::parse(text, &Made::default()).unwrap_err();
    problems.iter().map(ToString::to_string).collect()
}

/// A file that is fine but for this.
pub(crate) fn around(text: &str) -> String {
    let database = if text.contains("database:") { "" } else { "database: { url: sqlite://shop.db }\n" };
    let subscription = "subscriptions:\n  - { name: a, sink: { stdout: {} } }\n";
    let subscriptions = if text.contains("subscriptions:") { "" } else { subscription };
    format!("{text}\n{database}{subscriptions}")
}

/// A file that is fine but for these keys of its Kafka sink.
pub(crate) fn around_kafka(keys: &str) -> String {
    around(&format!("subscriptions:\n  - name: a\n    sink:\n      kafka: {{ {keys} }}"))
}

#[track_caller]
pub(crate) fn check(text: &str, expected: &[&str]) {
    assert_eq!(problems(&around(text)), expected, "{text}");
}
