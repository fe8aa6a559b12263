//! Dead letters as people see them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{check_page, check_span, check_texts};
use crate::{DeadReason, EventId, Position, Result, Timestamp};

/// How many groups of dead letters are told at most: the largest.
pub const MAX_GROUPS: usize = 100;

/// How much of an error tells one group of dead letters from another.
const LINE_CHARS: usize = 200;

/// What groups of dead letters have of an error: its first line, cut at 200 characters.
#[must_use]
pub fn error_line(error: &str) -> &str {
    let line = error.split('\n').next().unwrap_or_default();
    line.char_indices().nth(LINE_CHARS).map_or(line, |(end, _)| &line[..end])
}

/// Which errors are meant, by their first line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorText {
    /// Those whose first line, cut at 200 characters, is this: what a [`DeadGroup`] tells.
    Line(String),
    /// Those whose first line begins with this.
    Beginning(String),
}

impl ErrorText {
    /// The whole line that is meant.
    #[must_use]
    pub fn line(&self) -> Option<&str> {
        match self {
            ErrorText::Line(line) => Some(line),
            ErrorText::Beginning(_) => None,
        }
    }

    /// The beginning of the line that is meant.
    #[must_use]
    pub fn beginning(&self) -> Option<&str> {
        match self {
            ErrorText::Line(_) => None,
            ErrorText::Beginning(text) => Some(text),
        }
    }

    /// Whether this error is meant.
    #[must_use]
    pub fn fits(&self, error: &str) -> bool {
        match self {
            ErrorText::Line(line) => error_line(error) == line,
            ErrorText::Beginning(text) => error_line(error).starts_with(text.as_str()),
        }
    }
}

/// Which dead letters are meant. What is not set does not matter; what is set must all fit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DeadFilter {
    /// Only the one with this number, resolved or not.
    pub dead_id: Option<i64>,
    /// Only of this subscription.
    pub subscription: Option<String>,
    /// Only for this reason.
    pub reason: Option<DeadReason>,
    /// Only of this event type.
    pub event_type: Option<String>,
    /// Only of this topic.
    pub topic: Option<String>,
    /// Only of this key.
    pub key: Option<String>,
    /// Only with such an error.
    pub error: Option<ErrorText>,
    /// Only those that died at this time or later.
    pub moved_after: Option<Timestamp>,
    /// Only those that died before this time.
    pub moved_before: Option<Timestamp>,
    /// Also those that were replayed or discarded. Only for listings.
    #[serde(skip)]
    pub resolved: bool,
    /// Where the last page ended. Only for listings.
    #[serde(skip)]
    pub cursor: Option<i64>,
    /// How many at most; 50 if 0, and 1,000 is the most. Only for listings.
    #[serde(skip)]
    pub limit: u32,
}

impl DeadFilter {
    /// Says what is wrong with the filter.
    pub fn validate(&self) -> Result<()> {
        check_page(self.cursor, self.limit)?;
        check_span(self.moved_after, self.moved_before)?;
        let error = self.error.as_ref().and_then(|error| error.line().or(error.beginning()));
        check_texts([
            ("the subscription", &self.subscription),
            ("the type", &self.event_type),
            ("the topic", &self.topic),
            ("the key", &self.key),
            ("the error", &error.map(str::to_owned)),
        ])
    }
}

/// A dead letter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeadLetter {
    /// Its own number.
    pub dead_id: i64,
    /// The subscription in which it died.
    pub subscription: String,
    /// Its place in the log.
    pub position: Position,
    /// The event's id.
    pub id: EventId,
    /// The event's type.
    pub event_type: String,
    /// The event's topic.
    pub topic: String,
    /// The event's key.
    pub key: Option<String>,
    /// The type of the event's aggregate.
    pub aggregate_type: Option<String>,
    /// The id of the event's aggregate.
    pub aggregate_id: Option<String>,
    /// The event's tenant.
    pub tenant_id: Option<String>,
    /// What the payload is.
    pub content_type: String,
    /// The payload as text; bytes that are not text are shown as hexadecimal digits.
    pub payload: String,
    /// The event's headers.
    pub headers: BTreeMap<String, String>,
    /// Why it was given up.
    pub reason: DeadReason,
    /// The last failure.
    pub error: String,
    /// How many deliveries failed.
    pub attempts: u32,
    /// When it died.
    pub moved_at: Timestamp,
    /// Whether its key waits for a person.
    pub holds: bool,
    /// What a person did: `replayed`, `edited`, `discarded`, `reset`; none if nothing yet.
    pub resolution: Option<String>,
    /// When.
    pub resolved_at: Option<Timestamp>,
    /// Who.
    pub resolved_by: Option<String>,
    /// The id under which it was sent again, if that is another.
    pub new_id: Option<EventId>,
}

/// Unresolved dead letters that died of the same.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeadGroup {
    /// In which subscription.
    pub subscription: String,
    /// Why.
    pub reason: DeadReason,
    /// Events of which type.
    pub event_type: String,
    /// The first line of the error, cut at 200 characters; [`ErrorText::Line`] finds them.
    pub error: String,
    /// How many.
    pub count: u64,
    /// When the first of them died.
    pub first_at: Timestamp,
    /// When the last of them died.
    pub last_at: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_known_by_its_first_line() {
        let long = "é".repeat(LINE_CHARS + 1);
        for (error, line) in
            [("refused", "refused"), ("a\nb", "a"), ("", ""), ("\na", ""), (&long, &long[2..])]
        {
            assert_eq!(error_line(error), line);
            assert!(ErrorText::Line(line.to_owned()).fits(error));
        }
        assert!(ErrorText::Beginning("ref".to_owned()).fits("refused\nby whom"));
        assert!(!ErrorText::Line("ref".to_owned()).fits("refused"));
        assert!(!ErrorText::Beginning("by".to_owned()).fits("refused\nby whom"));
    }

    #[test]
    fn the_selection_of_a_job_is_kept_without_the_page() {
        let filter = DeadFilter {
            key: Some("a".to_owned()),
            error: Some(ErrorText::Beginning("refused".to_owned())),
            reason: Some(DeadReason::PoisonMessage),
            ..DeadFilter::default()
        };
        let paged = DeadFilter { limit: 5, cursor: Some(3), resolved: true, ..filter.clone() };
        let json = serde_json::to_string(&paged).unwrap();

        assert_eq!(serde_json::from_str::<DeadFilter>(&json).unwrap(), filter, "{json}");
    }
}
