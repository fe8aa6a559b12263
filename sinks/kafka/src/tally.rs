//! What is known of each entry of a batch, and what is answered in the end. Pure: it decides nothing about sending.

use std::collections::{HashMap, HashSet};

use posthaste_core::{Delivery, Entry, Fault};
use tracing::error;

use crate::fault::Verdict;

/// The state of every entry of a batch.
#[derive(Debug)]
pub(crate) struct Tally<'b> {
    batch: &'b [Entry],
    states: Vec<State>,
    /// Keys of which something did not come through: behind it nothing may be sent.
    halted: HashMap<&'b str, usize>,
    /// Something is known that is not a plain success.
    troubled: bool,
}

/// How far an entry is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum State {
    /// It has not been sent.
    Waiting,
    /// It is not there, and has to be sent alone.
    Suspect,
    Delivered,
    Failed(Fault),
    /// It did not leave the client, or may have: it is not waited for any more.
    Unsent,
    Unknown,
}

impl<'b> Tally<'b> {
    pub(crate) fn new(batch: &'b [Entry]) -> Self {
        Self { batch, states: vec![State::Waiting; batch.len()], halted: HashMap::new(), troubled: false }
    }

    /// The entries in this state whose keys may go on, in order.
    pub(crate) fn ready(&self, state: &State) -> impl Iterator<Item = usize> {
        (0..self.batch.len()).filter(move |index| self.states[*index] == *state && !self.is_halted(*index))
    }

    pub(crate) fn note(&mut self, index: usize, verdict: Verdict) {
        self.states[index] = match verdict {
            Verdict::Delivered => State::Delivered,
            Verdict::Failed(fault) => State::Failed(fault),
            Verdict::Suspect => State::Suspect,
            Verdict::Unsent => State::Unsent,
            Verdict::Unknown => State::Unknown,
        };
        if self.states[index] == State::Delivered {
            return;
        }
        self.troubled = true;
        // A suspect will be sent again; whoever is behind it waits in the order of the batch.
        if self.states[index] != State::Suspect
            && let Some(key) = self.batch[index].event.key.as_deref()
        {
            let first = self.halted.entry(key).or_insert(index);
            *first = index.min(*first);
        }
    }

    /// Whether the entry is behind one of its key that did not come through.
    pub(crate) fn is_halted(&self, index: usize) -> bool {
        let halted_at = |key: &str| self.halted.get(key).is_some_and(|first| *first < index);
        self.troubled && self.batch[index].event.key.as_deref().is_some_and(halted_at)
    }

    /// Whether some entry did not come through, so that this is no time to send more.
    pub(crate) fn is_broken_off(&self) -> bool {
        self.troubled && self.states.iter().any(|state| matches!(state, State::Unsent | State::Unknown))
    }

    /// Whether some entry is in this state.
    pub(crate) fn has_any(&self, state: &State) -> bool {
        self.states.contains(state)
    }

    pub(crate) fn is_delivered(&self, index: usize) -> bool {
        self.states[index] == State::Delivered
    }

    /// What is said of each entry. If the destination is down, somebody says so: whoever may have got lost, or else the
    /// first that was not sent.
    pub(crate) fn answers(self, outage: Option<&Fault>) -> Vec<Delivery> {
        if !self.troubled && outage.is_none() && self.states.iter().all(|state| *state == State::Delivered) {
            return vec![Delivery::Delivered; self.batch.len()];
        }
        let mut answers = Vec::with_capacity(self.batch.len());
        let mut stopped: HashSet<&str> = HashSet::new();
        let mut first_unsent = None;
        let mut told = outage.is_none();
        for (index, (entry, state)) in self.batch.iter().zip(self.states).enumerate() {
            let key = entry.event.key.as_deref();
            let behind = key.is_some_and(|key| stopped.contains(key));
            let answer = answer(state, behind, outage);
            match &answer {
                Delivery::Delivered => {}
                Delivery::NotSent if behind => {}
                Delivery::NotSent => first_unsent = first_unsent.or(Some(index)),
                Delivery::Failed(fault) => told |= Some(fault) == outage,
            }
            if answer != Delivery::Delivered {
                stopped.extend(key);
            }
            answers.push(answer);
        }
        if let (false, Some(outage), Some(index)) = (told, outage, first_unsent) {
            answers[index] = Delivery::Failed(outage.clone());
        }
        answers
    }
}

fn answer(state: State, stopped: bool, outage: Option<&Fault>) -> Delivery {
    match state {
        // It was sent only together with what is before it in its partition, where the broker refuses a gap. If it is
        // there nevertheless, it will be there again, behind what failed.
        State::Delivered if stopped => {
            error!("Kafka has an event behind one of its key that failed; it is sent again");
            Delivery::NotSent
        }
        State::Delivered => Delivery::Delivered,
        _ if stopped => Delivery::NotSent,
        State::Failed(fault) => Delivery::Failed(fault),
        // Nobody knows whether it is there. Unless the destination is down that is nobody's fault, and least of all the event's:
        // the client was replaced because of others, or there was no time.
        State::Unknown => outage.map_or(Delivery::NotSent, |outage| Delivery::Failed(outage.clone())),
        State::Waiting | State::Suspect | State::Unsent => Delivery::NotSent,
    }
}

#[cfg(test)]
mod tests {
    use posthaste_core::{Event, EventId, EventRules, Lane, Origin, Position, Stamp, Timestamp};

    use super::*;

    /// One entry for each letter; a blank is an entry without a key.
    fn batch(keys: &str) -> Vec<Entry> {
        let stamp = Stamp { id: EventId::from_bytes([1; 16]), now: Timestamp(0) };
        keys.chars()
            .map(|key| {
                let draft = Event::of("a").json(&1).unwrap();
                let draft = if key == ' ' { draft } else { draft.key(key.to_string()) };
                Entry {
                    position: Position(1),
                    lane: Lane(0),
                    event: draft.build(&EventRules::default(), stamp).unwrap(),
                    origin: Origin::Log,
                    attempts: 0,
                    blocked: false,
                    delayed: false,
                    defect: None,
                }
            })
            .collect()
    }

    fn bad() -> Verdict {
        Verdict::Failed(Fault::permanent("bad"))
    }

    /// The answers as letters: delivered, failed, unavailable, not sent.
    fn letters(keys: &str, verdicts: &[Verdict], outage: Option<&Fault>) -> String {
        let batch = batch(keys);
        let mut tally = Tally::new(&batch);
        for (index, verdict) in verdicts.iter().enumerate() {
            tally.note(index, verdict.clone());
        }
        let letter = |answer: &Delivery| match answer {
            Delivery::Delivered => 'd',
            Delivery::Failed(fault) if *fault == Fault::permanent("bad") => 'f',
            Delivery::Failed(_) => 'u',
            Delivery::NotSent => '-',
        };
        tally.answers(outage).iter().map(letter).collect()
    }

    #[test]
    fn a_key_has_deliveries_then_one_fault_then_nothing() {
        use Verdict::{Delivered, Suspect, Unknown, Unsent};
        let down = Fault::unavailable("down");
        let cases = [
            ("abab", vec![Delivered, Delivered, Delivered, Delivered], None, "dddd"),
            ("aaab", vec![Delivered, bad(), Unsent, Delivered], None, "df-d"),
            ("aaab", vec![Delivered, Unknown, Unknown, Unknown], None, "d---"),
            ("aaab", vec![Delivered, Unknown, Unknown, Unknown], Some(&down), "du-u"),
            ("aabb", vec![Delivered, Unsent, Unsent, Unsent], None, "d---"),
            ("aabb", vec![Delivered, Unsent, Unsent, Unsent], Some(&down), "du--"),
            ("aabb", vec![bad(), Unsent, Unsent, Unsent], Some(&down), "f-u-"),
            ("aaa", vec![bad(), Unsent, Unsent], Some(&down), "f--"),
            ("   a", vec![bad(), Delivered, Unknown, Delivered], None, "fd-d"),
            ("ab", vec![Suspect, Delivered], None, "-d"),
            ("aab", vec![bad(), Delivered, Delivered], None, "f-d"),
        ];
        for (keys, verdicts, outage, expected) in cases {
            assert_eq!(letters(keys, &verdicts, outage), expected, "{keys} {verdicts:?}");
        }
    }

    #[test]
    fn a_suspect_is_ready_although_those_behind_it_were_taken_back() {
        let batch = batch("aaa");
        let mut tally = Tally::new(&batch);
        tally.note(1, Verdict::Unsent);
        tally.note(0, Verdict::Suspect);
        tally.note(2, Verdict::Suspect);

        assert_eq!(tally.ready(&State::Suspect).collect::<Vec<_>>(), [0]);
    }

    #[test]
    fn nothing_of_a_halted_key_is_ready() {
        let batch = batch("abab ");
        let mut tally = Tally::new(&batch);
        tally.note(0, bad());

        assert_eq!(tally.ready(&State::Waiting).collect::<Vec<_>>(), [1, 3, 4]);
        tally.note(1, Verdict::Suspect);
        assert_eq!(tally.ready(&State::Suspect).collect::<Vec<_>>(), [1]);
        assert!(!tally.is_broken_off());
        tally.note(4, Verdict::Unsent);
        assert!(tally.is_broken_off());
    }
}
