//! What the checker found.

use std::fmt;

/// What the checker found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// What was broken. Empty if every rule held.
    pub breaches: Vec<Breach>,
    /// What there was, for each subscription.
    pub counts: Vec<Counts>,
}

/// A rule that was broken, and by what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    /// The rule.
    pub rule: Rule,
    /// In which subscription.
    pub subscription: String,
    /// Which events, which key, what was expected.
    pub text: String,
}

/// What there was in one subscription.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// The subscription.
    pub subscription: String,
    /// Deliveries, repeats included.
    pub received: u64,
    /// Events that were delivered at least once.
    pub delivered: u64,
    /// Deliveries that nobody asked for: neither the first nor one after a replay.
    pub repeats: u64,
    /// Dead letters that are not resolved.
    pub dead: u64,
}

/// The rules that a history can break.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// What was not committed is never seen (rule 1).
    OnlyCommitted,
    /// What the subscription does not want is not sent to it.
    OnlyWanted,
    /// A cursor never passes an event that is neither delivered nor parked nor dead (rules 2 and 6).
    NothingSkipped,
    /// In the end every event is delivered or dead (rules 2 and 6).
    NothingLeft,
    /// A dead letter that is sent again arrives, or dies again.
    NoReplayLost,
    /// Only the holder of a lane delivers from it (rule 3).
    OnlyTheHolder,
    /// Lines are a chain without gaps, and only an operator moves a cursor back (rule 4).
    Chain,
    /// First deliveries of a key are in log order (rule 5).
    KeyOrder,
    /// Dead letters of a key that are sent again together keep their order.
    ReplayOrder,
    /// A key that waits for a person waits.
    HeldKey,
    /// Nothing is delivered before its time.
    NotBeforeItsTime,
    /// Repeats are bounded (rule 6).
    RepeatsBounded,
    /// Attempts count only failures of the event itself (rule 7).
    OwnFailuresOnly,
}

impl Report {
    /// Whether every rule held.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.breaches.is_empty()
    }

    /// Panics with all that was found unless every rule held.
    pub fn assert_clean(&self) {
        assert!(self.is_clean(), "{self}");
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for breach in &self.breaches {
            writeln!(f, "{breach}")?;
        }
        for counts in &self.counts {
            let Counts { subscription, received, delivered, repeats, dead } = counts;
            writeln!(
                f,
                "{subscription}: {received} received, {delivered} delivered, {repeats} repeats, {dead} dead"
            )?;
        }
        write!(f, "{} breaches", self.breaches.len())
    }
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.subscription, self.rule, self.text)
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Rule::OnlyCommitted => "seen without a commit",
            Rule::OnlyWanted => "delivered though not wanted",
            Rule::NothingSkipped => "passed by the cursor and lost",
            Rule::NothingLeft => "neither delivered nor dead in the end",
            Rule::NoReplayLost => "sent again and lost",
            Rule::OnlyTheHolder => "delivered by a relay that does not hold the lane",
            Rule::Chain => "the chain of lines is broken",
            Rule::KeyOrder => "out of order within its key",
            Rule::ReplayOrder => "replayed out of order",
            Rule::HeldKey => "delivered past a dead letter that holds its key",
            Rule::NotBeforeItsTime => "delivered before its time",
            Rule::RepeatsBounded => "repeated more often than allowed",
            Rule::OwnFailuresOnly => "attempts counted that are not the event's own",
        })
    }
}
