//! Events as JSON lines: read, checked, and told of by their lines.

use std::{
    fmt,
    io::{BufRead, Read},
};

use posthaste::{Event, EventRules};

use super::event::{self, NewEvent};
use crate::{exit::Coded, screen::grouped};

/// How many wrong lines are told at most.
const TOLD: usize = 20;

/// Payloads of so many bytes are kept in memory at a time.
const KEPT: usize = 256 << 20;

/// What a line may have beside its payload.
const BESIDE: usize = 1 << 20;

/// What is wrong, by line.
#[derive(Debug, Default)]
pub(super) struct Problems {
    told: Vec<(u64, String)>,
    more: u64,
}

impl Problems {
    fn add(&mut self, line: u64, text: String) {
        if self.told.len() < TOLD { self.told.push((line, text)) } else { self.more += 1 }
    }

    fn is_empty(&self) -> bool {
        self.told.is_empty()
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> =
            self.told.iter().map(|(line, text)| format!("line {line}: {text}")).collect();
        f.write_str(&lines.join("\n"))?;
        if self.more > 0 {
            write!(f, "\nand {} more lines", self.more)?;
        }
        Ok(())
    }
}

/// Lines that are read as events.
pub(super) struct Input<R> {
    source: R,
    rules: EventRules,
    lines: u64,
    is_at_end: bool,
}

impl<R: BufRead> Input<R> {
    pub(super) fn new(source: R, rules: EventRules) -> Self {
        Self { source, rules, lines: 0, is_at_end: false }
    }

    /// How many lines were read.
    pub(super) fn lines(&self) -> u64 {
        self.lines
    }

    /// Whether all lines were read.
    pub(super) fn is_at_end(&self) -> bool {
        self.is_at_end
    }

    /// All events, or everything that is wrong with them.
    pub(super) fn read_all(&mut self, most: usize) -> anyhow::Result<Vec<(u64, Event)>> {
        let events = self.read(most);
        let events =
            events.map_err(|problems| Coded::not_understood(format!("nothing was published\n{problems}")))?;
        if !self.is_at_end && !self.read(1).unwrap_or_default().is_empty() {
            let (most, megabytes) = (grouped(most as u64), KEPT >> 20);
            return Err(Coded::not_understood(format!(
                "there are more than {most} lines or {megabytes} MiB, which is too much for one transaction; write --batch N"
            )));
        }
        Ok(events)
    }

    /// As many events as that, with the numbers of their lines; fewer at the end, or if they are large. Empty lines are none.
    pub(super) fn read(&mut self, most: usize) -> Result<Vec<(u64, Event)>, Problems> {
        let mut events = Vec::new();
        let mut problems = Problems::default();
        let (mut seen, mut bytes) = (0, 0);
        while seen < most && bytes < KEPT {
            let text = match self.next_line() {
                Ok(Some(text)) => text,
                Ok(None) => {
                    self.is_at_end = true;
                    break;
                }
                // What comes behind it is not understood either.
                Err(text) => {
                    problems.add(self.lines, text);
                    break;
                }
            };
            if text.trim().is_empty() {
                continue;
            }
            seen += 1;
            bytes += text.len();
            match parse(&text).and_then(|new| event::build(new, &self.rules)) {
                Ok((_, event)) => events.push((self.lines, event)),
                Err(text) => problems.add(self.lines, text),
            }
        }
        if problems.is_empty() { Ok(events) } else { Err(problems) }
    }

    fn next_line(&mut self) -> Result<Option<String>, String> {
        let limit = self.rules.payload_limit.saturating_mul(6).saturating_add(BESIDE);
        let mut bytes = Vec::new();
        let limited = u64::try_from(limit).unwrap_or(u64::MAX);
        let read = (&mut self.source).take(limited).read_until(b'\n', &mut bytes);
        self.lines += 1;
        match read.map_err(|error| format!("cannot be read: {error}"))? {
            0 => {
                self.lines -= 1;
                Ok(None)
            }
            length if length == limit => Err(format!("is longer than {limit} bytes")),
            _ => String::from_utf8(bytes).map(Some).map_err(|_| "is not UTF-8".to_owned()),
        }
    }
}

/// The line that an error of JSON names is always the first one of the text.
fn parse(text: &str) -> Result<NewEvent, String> {
    serde_json::from_str(text).map_err(|error| {
        let text = error.to_string();
        let at = format!(" at line {} column {}", error.line(), error.column());
        match text.strip_suffix(&at) {
            Some(what) if error.column() > 0 => format!("{what}, at column {}", error.column()),
            _ => text,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(text: &str) -> Input<&[u8]> {
        Input::new(text.as_bytes(), EventRules::default())
    }

    fn wrong(text: &str) -> String {
        input(text).read(1_000).unwrap_err().to_string()
    }

    #[test]
    fn lines_are_events_and_empty_ones_are_none() {
        let text = "{\"event_type\":\"a\",\"payload\":1}\n\n  \n{\"event_type\":\"b\",\"payload\":{\"n\":1.50},\"key\":\"k\"}";
        let events = input(text).read(10).unwrap();
        let lines: Vec<u64> = events.iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [1, 4]);
        assert_eq!(events[1].1.payload.as_bytes(), b"{\"n\":1.50}", "as it was written");
        assert_eq!((events[0].1.topic.as_str(), events[1].1.key.as_deref()), ("a", Some("k")));
    }

    #[test]
    fn everything_that_is_wrong_is_told_by_its_line() {
        let text = r#"{"event_type":"a","payload":1}
{"event_type":"a"}
{"event_type":"a","payload":1,"toppic":"b"}
{"event_type":"","payload":1}
nonsense
{"event_type":"a","payload":1,"aggregate_id":"7"}
{"event_type":"a","payload":1,"deliver_after":"soon"}
{"event_type":"a","payload":1,"content_type":"text/plain"}
{"event_type":"a","payload":1,"id":"7"}
{"event_type":"a","payload":1,"headers":{"a":1}}
{"event_type":"a","payload":1,"retry":{"base":"0s"}}
"#;
        let told = wrong(text);
        for part in [
            "line 2: missing field `payload`",
            "line 3: unknown field `toppic`, expected one of",
            "line 4: the event type is empty",
            "line 5: expected ident",
            "line 6: aggregate_type and aggregate_id are there together",
            "line 7: \"soon\" is no time",
            "line 8: the payload of content_type text/plain is no text",
            "line 9: event id \"7\" is neither a UUID",
            "line 10: invalid type: integer `1`, expected a string",
            "line 11: base is 0",
        ] {
            assert!(told.contains(part), "{part} in\n{told}");
        }
        assert!(!told.contains("line 1:"), "{told}");
    }

    #[test]
    fn what_is_too_much_for_one_transaction_is_refused() {
        let text = "{\"event_type\":\"a\",\"payload\":1}\n".repeat(3);
        let error = input(&text).read_all(2).unwrap_err().to_string();
        assert!(error.contains("more than 2 lines") && error.contains("--batch"), "{error}");
        assert_eq!(input(&text).read_all(3).unwrap().len(), 3);
        let mut batches = input(&text);
        assert_eq!((batches.read(2).unwrap().len(), batches.is_at_end()), (2, false));
        assert_eq!((batches.read(2).unwrap().len(), batches.is_at_end()), (1, true));
    }

    #[test]
    fn only_so_many_are_told() {
        let told = wrong(&"x\n".repeat(30));
        assert_eq!(told.lines().count(), TOLD + 1);
        assert!(told.ends_with("and 10 more lines"), "{told}");
    }

    #[test]
    fn what_is_too_long_or_no_text_is_told_and_not_kept() {
        let rules = EventRules { payload_limit: 10, ..EventRules::default() };
        let long = format!("{{\"event_type\":\"a\",\"payload\":\"{}\"}}", "x".repeat(2 << 20));
        let error = Input::new(long.as_bytes(), rules.clone()).read(1).unwrap_err().to_string();
        assert!(error.contains("line 1: is longer than"), "{error}");
        let large = r#"{"event_type":"a","payload":"12345678901"}"#;
        let error = Input::new(large.as_bytes(), rules).read(1).unwrap_err().to_string();
        assert!(error.contains("10 are allowed"), "{error}");
        assert!(Input::new(&b"\xff\n"[..], EventRules::default()).read(1).is_err());
    }
}
