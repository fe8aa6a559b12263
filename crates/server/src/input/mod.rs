//! What a caller sends: parameters behind the `?`, or a JSON object. Everything that is wrong with it is said at once.
//!
//! A handler asks for the fields that it knows; what is asked for exists, and everything else is unknown. Reading straight into
//! structs would stop at the first fault, and would take a misspelt filter for none.

mod extract;
mod value;

use std::{cell::RefCell, collections::BTreeMap, ops::RangeInclusive};

use axum::http::{HeaderMap, header::CONTENT_TYPE};
use percent_encoding::percent_decode_str;
use posthaste::Timestamp;
use serde_json::{Map, Value};

pub(crate) use self::extract::{Body, Parameters, Path, Query};
use self::value::{is_text, shown, whole};
use crate::{
    cursor::{self, Listing},
    problem::{Problem, Wrong},
    time,
};

/// The longest text in a field that is compared with something. Payloads have their own limit.
pub(crate) const LONGEST: usize = 4_000;
/// The most names that a field may have.
pub(crate) const MOST_NAMES: usize = 1_000;

/// The largest page.
pub(crate) const MAX_PAGE: u32 = 1_000;

/// Where the fields come from, which decides how a number is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    Query,
    Body,
}

/// Fields that a caller sent.
#[derive(Debug)]
pub(crate) struct Input {
    origin: Origin,
    fields: Map<String, Value>,
    asked: RefCell<Vec<&'static str>>,
    wrong: RefCell<Vec<Wrong>>,
}

impl Input {
    fn new(origin: Origin, fields: Map<String, Value>) -> Self {
        Self { origin, fields, asked: RefCell::default(), wrong: RefCell::default() }
    }

    /// The parameters behind the `?`.
    fn of_query(query: &str) -> Result<Self, Problem> {
        let input = Self::new(Origin::Query, Map::new());
        let mut fields = Map::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let (Some(name), Some(value)) = (decode(name), decode(value)) else {
                let name: String = name.chars().take(60).collect();
                let text = format!("the parameter {name:?} is not UTF-8; allowed is a text in UTF-8");
                return Err(Problem::invalid(text));
            };
            if fields.insert(name.clone(), Value::String(value)).is_some() {
                input.wrong(&name, "is there twice; once is allowed");
            }
        }
        Ok(Self { fields, ..input })
    }

    /// A JSON object; nothing at all is an empty one.
    fn of_body(headers: &HeaderMap, body: &[u8]) -> Result<Self, Problem> {
        if body.is_empty() {
            return Ok(Self::new(Origin::Body, Map::new()));
        }
        if !is_json(headers) {
            return Err(Problem::wrong_media_type());
        }
        // Deeper than 128 is an error of the parser, before it uses up the stack.
        match serde_json::from_slice(body) {
            Ok(Value::Object(fields)) => Ok(Self::new(Origin::Body, fields)),
            Ok(_) => Err(Problem::invalid("the body is JSON, but no object; allowed is an object")),
            Err(error) => Err(Problem::invalid(format!("the body is not JSON: {error}"))),
        }
    }

    /// A text, not empty.
    pub(crate) fn text(&self, name: &'static str) -> Option<String> {
        let value = self.find(name)?;
        let text = value.as_str().filter(|text| is_text(text));
        if text.is_none() {
            self.wrong(name, &format!("is {}; allowed is a text of 1 to {LONGEST} characters", shown(value)));
        }
        text.map(str::to_owned)
    }

    /// A text that has to be there.
    pub(crate) fn required(&self, name: &'static str) -> Option<String> {
        self.demand(name, "a text");
        self.text(name)
    }

    /// Notes that a field is missing, if it is.
    pub(crate) fn demand(&self, name: &'static str, what: &str) {
        if !self.fields.contains_key(name) {
            self.wrong(name, &format!("is missing; needed is {what}"));
        }
    }

    /// A whole number.
    pub(crate) fn number(&self, name: &'static str, range: RangeInclusive<i64>) -> Option<i64> {
        let value = self.find(name)?;
        let number = match self.origin {
            Origin::Query => value.as_str().and_then(|text| text.parse().ok()),
            Origin::Body => whole(value),
        };
        let number = number.filter(|number| range.contains(number));
        if number.is_none() {
            let (low, high) = (range.start(), range.end());
            self.wrong(name, &format!("is {}; allowed is a whole number from {low} to {high}", shown(value)));
        }
        number
    }

    /// `true` or `false`; false unless given.
    pub(crate) fn switch(&self, name: &'static str) -> bool {
        let Some(value) = self.find(name) else { return false };
        let switch = match self.origin {
            Origin::Query => value.as_str().and_then(|text| text.parse().ok()),
            Origin::Body => value.as_bool(),
        };
        if switch.is_none() {
            self.wrong(name, &format!("is {}; allowed is true or false", shown(value)));
        }
        switch.unwrap_or(false)
    }

    /// One of these words.
    pub(crate) fn word<T: Copy>(&self, name: &'static str, words: &[(&str, T)]) -> Option<T> {
        let value = self.find(name)?;
        let found = words.iter().find(|(word, _)| value.as_str() == Some(word));
        if found.is_none() {
            let allowed: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            self.wrong(name, &format!("is {}; allowed is one of {}", shown(value), allowed.join(", ")));
        }
        found.map(|(_, meaning)| *meaning)
    }

    /// A time.
    pub(crate) fn time(&self, name: &'static str) -> Option<Timestamp> {
        let value = self.find(name)?;
        let time = value.as_str().and_then(time::parse);
        if time.is_none() {
            self.wrong(
                name,
                &format!("is {}; allowed is a time in UTC, such as 2026-03-01T12:00:00Z", shown(value)),
            );
        }
        time
    }

    /// How many a page has.
    pub(crate) fn limit(&self) -> u32 {
        let limit = self.number("limit", 1..=i64::from(MAX_PAGE));
        limit.and_then(|limit| u32::try_from(limit).ok()).unwrap_or(0)
    }

    /// Where a page goes on.
    pub(crate) fn cursor(&self, listing: Listing) -> Option<i64> {
        let value = self.find("cursor")?;
        let row = value.as_str().and_then(|text| cursor::read(listing, text));
        if row.is_none() {
            self.wrong("cursor", "is not understood; allowed is what the page before says as next");
        }
        row
    }

    /// Whole numbers from 1, as many as allowed.
    pub(crate) fn ids(&self, name: &'static str, most: usize) -> Option<Vec<i64>> {
        let value = self.find(name)?;
        let list = value.as_array().filter(|list| (1..=most).contains(&list.len()));
        let ids = list.and_then(|list| {
            list.iter().map(|id| whole(id).filter(|id| *id > 0)).collect::<Option<Vec<i64>>>()
        });
        if ids.is_none() {
            self.wrong(name, &format!("is {}; allowed is a list of 1 to {most} ids", shown(value)));
        }
        ids
    }

    /// Names with texts.
    pub(crate) fn texts(&self, name: &'static str) -> Option<BTreeMap<String, String>> {
        let value = self.find(name)?;
        let texts = value.as_object().and_then(|fields| {
            let text = |(name, value): (&String, &Value)| {
                let value = value.as_str().filter(|text| text.is_empty() || is_text(text))?;
                is_text(name).then(|| (name.clone(), value.to_owned()))
            };
            fields.iter().map(text).collect::<Option<BTreeMap<_, _>>>()
        });
        if texts.is_none() {
            self.wrong(name, &format!("is {}; allowed are names with texts", shown(value)));
        }
        texts
    }

    /// Names with whole numbers, or with nothing.
    pub(crate) fn numbers_or_null(
        &self,
        name: &'static str,
        range: RangeInclusive<i64>,
    ) -> Vec<(String, Option<i64>)> {
        let Some(value) = self.find(name) else { return Vec::new() };
        let number = |(name, value): (&String, &Value)| match value {
            _ if !is_text(name) => None,
            Value::Null => Some((name.clone(), None)),
            value => Some((name.clone(), Some(whole(value).filter(|number| range.contains(number))?))),
        };
        let fields = value.as_object().filter(|fields| fields.len() <= MOST_NAMES);
        let numbers = fields.and_then(|fields| fields.iter().map(number).collect::<Option<Vec<_>>>());
        if numbers.is_none() {
            let (low, high) = (range.start(), range.end());
            let allowed = format!("allowed are names, each with null or a whole number from {low} to {high}");
            self.wrong(name, &format!("is {}; {allowed}", shown(value)));
        }
        numbers.unwrap_or_default()
    }

    /// Whatever is there.
    pub(crate) fn any(&self, name: &'static str) -> Option<&Value> {
        self.find(name)
    }

    /// The fields below a field.
    pub(crate) fn object(&self, name: &'static str) -> Option<Input> {
        let value = self.find(name)?;
        match value {
            Value::Object(fields) => Some(Self::new(self.origin, fields.clone())),
            _ => {
                self.wrong(name, &format!("is {}; allowed is an object", shown(value)));
                None
            }
        }
    }

    /// Takes over everything that is wrong below a field.
    pub(crate) fn below(&self, name: &str, input: Input) {
        for wrong in input.all_wrong() {
            self.wrong(&format!("{name}.{}", wrong.field), &wrong.detail);
        }
    }

    /// Notes that a field is wrong, in words that follow its name.
    pub(crate) fn wrong(&self, field: &str, detail: &str) {
        let field: String = field.chars().take(60).collect();
        self.wrong.borrow_mut().push(Wrong { field, detail: detail.to_owned() });
    }

    /// Ends asking: what was not asked for does not exist.
    pub(crate) fn end(self) -> Result<(), Problem> {
        let wrong = self.all_wrong();
        if wrong.is_empty() { Ok(()) } else { Err(Problem::fields(wrong)) }
    }

    /// Ends asking where at least one field has to be there: who sends none has lost them on the way.
    pub(crate) fn end_with_any(self) -> Result<(), Problem> {
        let needed = self.fields.is_empty().then(|| self.asked.borrow().join(", "));
        self.end()?;
        let missing = |names| Err(Problem::invalid(format!("no field is there; needed is one of {names}")));
        needed.map_or(Ok(()), missing)
    }

    fn all_wrong(self) -> Vec<Wrong> {
        let asked = self.asked.take();
        let known = if asked.is_empty() { "none".to_owned() } else { asked.join(", ") };
        for name in self.fields.keys().filter(|name| !asked.contains(&name.as_str())) {
            self.wrong(name, &format!("is not known; known are {known}"));
        }
        self.wrong.into_inner()
    }

    fn find(&self, name: &'static str) -> Option<&Value> {
        self.asked.borrow_mut().push(name);
        self.fields.get(name)
    }
}

fn decode(text: &str) -> Option<String> {
    let spaced = text.replace('+', " ");
    percent_decode_str(&spaced).decode_utf8().ok().map(String::from)
}

fn is_json(headers: &HeaderMap) -> bool {
    let value = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    value.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(text: &str) -> Input {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, "Application/JSON; charset=utf-8".parse().unwrap());
        Input::of_body(&headers, text.as_bytes()).unwrap()
    }

    fn wrong(input: Input) -> Vec<String> {
        input.all_wrong().iter().map(|wrong| format!("{} {}", wrong.field, wrong.detail)).collect()
    }

    #[test]
    fn everything_that_is_wrong_is_said_at_once() {
        let input = Input::of_query("limit=0&status=ok&cursor=x&key=&a=1&key=b&after=soon").unwrap();
        input.limit();
        input.word("status", &[("dead", ())]);
        input.cursor(Listing::Events);
        input.text("key");
        input.time("after");

        let all = wrong(input);
        for part in [
            "key is there twice",
            "limit is \"0\"; allowed is a whole number from 1 to 1000",
            "status is \"ok\"; allowed is one of dead",
            "cursor is not understood",
            "after is \"soon\"; allowed is a time",
            "a is not known; known are limit, status, cursor, key, after",
        ] {
            assert!(all.iter().any(|wrong| wrong.starts_with(part)), "{part} in {all:#?}");
        }
        assert_eq!(all.len(), 6, "{all:#?}");
    }

    #[test]
    fn texts_are_decoded_and_bad_ones_refused() {
        let input = Input::of_query("key=a%2Fb+c%26&empty=&nul=%00").unwrap();
        assert_eq!(input.text("key").as_deref(), Some("a/b c&"));
        assert_eq!((input.text("empty"), input.text("nul"), input.text("none")), (None, None, None));
        assert_eq!(wrong(input).len(), 2);
        assert!(Input::of_query("key=%ff").is_err());
    }

    #[test]
    fn a_body_has_typed_values() {
        let input = body(r#"{"n": "5", "s": 1, "ids": [1, 0], "all": {"a": 1}, "o": {"x": 1, "y": 2}}"#);
        input.number("n", 1..=9);
        input.switch("s");
        input.ids("ids", 10);
        input.texts("all");
        let below = input.object("o").unwrap();
        below.number("x", 1..=9);
        input.below("o", below);
        assert_eq!(
            wrong(input),
            [
                "n is \"5\"; allowed is a whole number from 1 to 9",
                "s is 1; allowed is true or false",
                "ids is a list; allowed is a list of 1 to 10 ids",
                "all is an object; allowed are names with texts",
                "o.y is not known; known are x",
            ]
        );
    }

    #[test]
    fn what_is_no_object_of_json_is_refused() {
        let deep = "[".repeat(100_000);
        for text in ["[]", "5", "{", "\u{0}", &deep, r#"{"a":1}x"#] {
            let mut headers = HeaderMap::new();
            assert!(Input::of_body(&headers, text.as_bytes()).is_err(), "without a content type");
            headers.insert(CONTENT_TYPE, "application/json".parse().unwrap());
            assert!(Input::of_body(&headers, text.as_bytes()).is_err());
        }
        assert!(Input::of_body(&HeaderMap::new(), b"").is_ok());
    }
}
