//! The last quarter of an hour, a second each, in memory: so that charts have a past.

use std::collections::{BTreeMap, VecDeque};

use posthaste::Timestamp;

use super::sample::{Sample, Second};

/// How many seconds are kept.
pub(crate) const SECONDS: usize = 900;
/// Of how many subscriptions: the first ones by name. Together this is at most 6 MB.
const SUBSCRIPTIONS: usize = 100;

/// The last samples, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Ring {
    times: VecDeque<Timestamp>,
    /// For each subscription as many seconds as there are times; none where it was not there.
    columns: BTreeMap<String, VecDeque<Option<Second>>>,
}

impl Ring {
    pub(crate) fn push(&mut self, sample: &Sample) {
        for name in sample.subscriptions.keys() {
            if !self.columns.contains_key(name) && self.columns.len() < SUBSCRIPTIONS {
                let absent = std::iter::repeat_n(None, self.times.len());
                self.columns.insert(name.clone(), absent.collect());
            }
        }
        self.times.push_back(sample.at);
        for (name, column) in &mut self.columns {
            column.push_back(sample.subscriptions.get(name).copied());
        }
        if self.times.len() > SECONDS {
            self.times.pop_front();
            for column in self.columns.values_mut() {
                column.pop_front();
            }
            self.columns.retain(|_, column| column.iter().any(Option::is_some));
        }
    }

    /// The last so many samples: the times, and for each subscription its seconds.
    pub(crate) fn last(&self, seconds: usize) -> (Vec<Timestamp>, BTreeMap<String, Vec<Option<Second>>>) {
        let skipped = self.times.len().saturating_sub(seconds);
        let times = self.times.iter().skip(skipped).copied().collect();
        let column = |(name, column): (&String, &VecDeque<Option<Second>>)| {
            (name.clone(), column.iter().skip(skipped).copied().collect())
        };
        (times, self.columns.iter().map(column).collect())
    }

    /// What a subscription did and failed to do in all the seconds that are kept.
    pub(crate) fn totals(&self, name: &str) -> (f64, f64) {
        let seconds = self.columns.get(name).into_iter().flatten().flatten();
        seconds.fold((0.0, 0.0), |(delivered, failed), second| {
            (
                delivered + f64::from(second.delivered_per_second),
                failed + f64::from(second.failed_per_second) + f64::from(second.dead_per_second),
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(at: i64, names: &[&str]) -> Sample {
        let second = Second { delivered_per_second: 2.0, failed_per_second: 1.0, ..Second::default() };
        let subscriptions = names.iter().map(|name| ((*name).to_owned(), second)).collect();
        Sample { at: Timestamp(at), subscriptions }
    }

    #[test]
    fn keeps_the_last_quarter_of_an_hour_and_what_is_in_it() {
        let mut ring = Ring::default();
        for at in 0..10 {
            ring.push(&sample(at, &["old", "both"]));
        }
        for at in 10..909 {
            ring.push(&sample(at, &["both", "new"]));
        }

        let (times, columns) = ring.last(SECONDS);
        assert_eq!((times.len(), times[0]), (SECONDS, Timestamp(9)));
        assert!(columns.values().all(|column| column.len() == SECONDS));
        assert!(columns["old"][0].is_some() && columns["old"][1].is_none() && columns["new"][0].is_none());
        assert_eq!(ring.last(5).0.len(), 5);
        assert_eq!(ring.totals("both"), (1_800.0, 900.0));

        ring.push(&sample(909, &["both", "new"]));
        assert!(!ring.last(1).1.contains_key("old"), "what is nowhere in it is forgotten");
    }

    #[test]
    fn many_subscriptions_do_not_fill_the_memory() {
        let mut ring = Ring::default();
        let names: Vec<String> = (0..1_000).map(|number| number.to_string()).collect();
        ring.push(&sample(0, &names.iter().map(String::as_str).collect::<Vec<_>>()));
        assert_eq!(ring.last(1).1.len(), SUBSCRIPTIONS);
    }
}
