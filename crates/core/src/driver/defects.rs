//! What is wrong with a row.

use std::{borrow::Cow, collections::BTreeMap};

use serde::de::{DeserializeOwned, IgnoredAny};

use crate::{Payload, RetryOverrides, oversized};

/// What is wrong with a row, in one text. A row that cannot be understood is still an entry, one that says so. Nothing is allocated
/// while nothing is wrong.
#[derive(Default)]
pub struct Defects {
    text: Option<String>,
}

impl Defects {
    /// Another one.
    pub fn add(&mut self, what: &str) {
        match &mut self.text {
            Some(text) => {
                text.push_str("; ");
                text.push_str(what);
            }
            None => self.text = Some(what.to_owned()),
        }
    }

    /// All of them, for the entry.
    #[must_use]
    pub fn into_text(self) -> Option<String> {
        self.text
    }

    /// The headers that a row has as text.
    pub fn headers(&mut self, json: Option<&str>) -> BTreeMap<String, String> {
        match json {
            None | Some("{}") => BTreeMap::new(),
            Some(json) => self.parse(json, "the headers are not a JSON object of texts"),
        }
    }

    /// The retry overrides that a row has as text.
    pub fn retry(&mut self, json: Option<&str>) -> RetryOverrides {
        json.map(|json| self.parse(json, "the retry overrides are not understood")).unwrap_or_default()
    }

    /// Looks whether a payload is the JSON that it should be.
    pub fn check_json(&mut self, bytes: &[u8]) {
        if let Err(error) = serde_json::from_slice::<IgnoredAny>(bytes) {
            self.add(&format!("the payload is not JSON: {error}"));
        }
    }

    /// What stands for a payload that was not loaded, because it has so many bytes. Without a content type it was JSON.
    pub fn too_large(&mut self, size: usize, limit: usize, content_type: Option<String>) -> Payload {
        self.add(&oversized(size, limit));
        match content_type {
            Some(content_type) => {
                Payload::Bytes { bytes: Vec::new(), content_type: Cow::Owned(content_type) }
            }
            None => Payload::Json(String::new()),
        }
    }

    fn parse<T: DeserializeOwned + Default>(&mut self, json: &str, what: &str) -> T {
        serde_json::from_str(json).unwrap_or_else(|error| {
            self.add(&format!("{what}: {error}"));
            T::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_is_wrong_is_told_and_the_rest_is_read() {
        let mut defects = Defects::default();
        assert_eq!(defects.headers(Some(r#"{"a":"b"}"#)), BTreeMap::from([("a".to_owned(), "b".to_owned())]));
        assert_eq!(defects.retry(None), RetryOverrides::default());
        defects.check_json(b"[1]");
        assert_eq!(defects.into_text(), None);

        let mut defects = Defects::default();
        assert_eq!(defects.headers(Some("[]")), BTreeMap::new());
        defects.check_json(b"[1");
        let text = defects.into_text().unwrap();
        assert!(text.starts_with("the headers are not a JSON object of texts: "), "{text}");
        assert!(text.contains("; the payload is not JSON: "), "{text}");
    }
}
