//! What operators do, and what they are told beforehand.

use std::{collections::BTreeMap, fmt::Write};

use serde::{Deserialize, Serialize, de::IgnoredAny};

use super::{JobRequest, check_texts};
use crate::{Error, EventId, Position, Result, Timestamp, event::JSON_CONTENT_TYPE};

/// How many dead letters can be named in one act. For more there are jobs.
pub const MAX_IDS: usize = 500;

/// Something an operator does. Each is written into the journal with who did it.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    /// Send these dead letters again, to the one subscription in which each died, in their order.
    Replay(Vec<i64>),
    /// Send one dead letter again with another payload or other headers, under a new id.
    Edit {
        /// The dead letter.
        dead_id: i64,
        /// What to change.
        edit: Edit,
        /// The id of the new event.
        new_id: EventId,
    },
    /// Give these dead letters up for good. A key that they hold goes on.
    Discard(Vec<i64>),
    /// Let the relays replay or discard all dead letters that fit, a batch at a time. Answers the job's number.
    Start(JobRequest),
    /// Stop a job. What it has done stays done.
    Cancel(i64),
    /// Stop a subscription; its lanes are given back.
    Pause(String),
    /// Let a paused subscription go on.
    Resume(String),
    /// Move the cursor of a paused subscription whose lanes nobody holds.
    Reset {
        /// The subscription.
        subscription: String,
        /// Where to.
        to: ResetTo,
    },
    /// Remove a subscription with its cursors and everything parked; dead letters stay.
    Drop(String),
    /// Write down that a running relay was set otherwise, in these words. Nothing in the log changes: what a relay is set to is not in it.
    Tune(String),
}

impl Act {
    /// Says what is wrong with the act, whatever the log holds.
    pub fn validate(&self) -> Result<()> {
        match self {
            Act::Replay(ids) | Act::Discard(ids) => check_ids(ids),
            Act::Start(request) => request.validate(),
            Act::Edit { edit, .. } => edit.validate(),
            Act::Pause(_)
            | Act::Resume(_)
            | Act::Reset { .. }
            | Act::Drop(_)
            | Act::Cancel(_)
            | Act::Tune(_) => Ok(()),
        }
    }
}

fn check_ids(ids: &[i64]) -> Result<()> {
    match ids.len() {
        0 => Err(Error::invalid("no dead letter is named")),
        count if count > MAX_IDS => Err(Error::invalid(format!(
            "{count} dead letters are named; at most {MAX_IDS} are possible at once, start a job for more"
        ))),
        _ => Ok(()),
    }
}

/// Where to move a cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResetTo {
    /// To the beginning of what is retained.
    Beginning,
    /// Past everything that is committed.
    Now,
    /// So that this event is the next one.
    Position(Position),
    /// So that the first event that was written at this time or later is the next one.
    Time(Timestamp),
}

/// What to change of a dead letter before it is sent again.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Edit {
    /// The new payload, as text.
    pub payload: Option<String>,
    /// The new headers, all of them.
    pub headers: Option<BTreeMap<String, String>>,
    /// The new topic.
    pub topic: Option<String>,
}

impl Edit {
    fn validate(&self) -> Result<()> {
        if self.topic.as_deref() == Some("") {
            return Err(Error::invalid("the edited topic is empty"));
        }
        check_texts([("the edited topic", &self.topic)])
    }

    /// A payload that was JSON must be JSON again.
    pub fn check(&self, content_type: &str) -> Result<()> {
        if let Some(text) = self.payload.as_deref().filter(|_| content_type == JSON_CONTENT_TYPE) {
            serde_json::from_str::<IgnoredAny>(text)
                .map_err(|error| Error::invalid("the edited payload is not JSON").with_source(error))?;
        }
        Ok(())
    }
}

/// What an act would concern.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Foreseen {
    /// How many dead letters, subscriptions or lanes the act would be done to: what it would answer. For a job that is to be started
    /// or cancelled, how many dead letters are ahead of it.
    pub concerned: u64,
    /// How many events a reset would let come again: delivered, failed and dead ones.
    pub again: u64,
    /// How many pending events a reset would pass over, so that they are never delivered.
    pub skipped: u64,
    /// Whether events were counted only in part, and the rest is estimated.
    pub estimated: bool,
}

/// Which dead letters an act was about, for the journal: the first of them by number.
#[must_use]
pub fn letters_text(ids: &[i64]) -> String {
    const NAMED: usize = 10;
    let mut text = String::from(if ids.len() == 1 { "dead letter " } else { "dead letters " });
    let named: Vec<String> = ids.iter().take(NAMED).map(i64::to_string).collect();
    text.push_str(&named.join(", "));
    if ids.len() > NAMED {
        _ = write!(text, " and {} more", ids.len() - NAMED);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_act_names_a_few_dead_letters() {
        assert!(Act::Replay(Vec::new()).validate().is_err());
        assert!(Act::Discard((0..501).collect()).validate().unwrap_err().to_string().contains("start a job"));
        assert!(Act::Discard((0..500).collect()).validate().is_ok());
    }

    #[test]
    fn the_journal_names_the_first_of_them() {
        assert_eq!(letters_text(&[7]), "dead letter 7");
        assert_eq!(letters_text(&[7, 9]), "dead letters 7, 9");
        let many: Vec<i64> = (1..=12).collect();
        assert_eq!(letters_text(&many), "dead letters 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 2 more");
    }
}
