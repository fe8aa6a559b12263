//! A limit on how many entries are sent in a second. Time is an argument, as everywhere in here.
//!
//! The limit is the subscription's: each relay has the share of it that it has of the lanes, so that all of them together keep it, and
//! keep it while lanes change hands.

use std::time::Duration;

use crate::Moment;

#[derive(Debug, Default)]
pub(super) struct Rate {
    /// Entries a second for the whole subscription; none if there is no limit.
    limit: Option<u32>,
    /// How large a share of the lanes is held here.
    share: f64,
    /// What may be sent, as it was then.
    tokens: f64,
    at: Moment,
}

/// How long of doing nothing can be made up for at once.
const BURST: Duration = Duration::from_millis(100);

impl Rate {
    pub(super) fn new(limit: Option<u32>) -> Self {
        Self { limit, share: 1.0, tokens: 1.0, at: Moment::default() }
    }

    /// Another limit from now on.
    pub(super) fn set_limit(&mut self, now: Moment, limit: Option<u32>) {
        self.refill(now);
        self.limit = limit;
        self.tokens = self.tokens.min(self.most());
    }

    /// So many of all lanes are held here from now on.
    pub(super) fn set_share(&mut self, now: Moment, held: usize, all: usize) {
        self.refill(now);
        self.share = held.max(1) as f64 / all.max(1) as f64;
    }

    /// How many entries may be sent now.
    pub(super) fn room(&mut self, now: Moment) -> usize {
        self.refill(now);
        // What is negative is 0, and so is what is less than a whole one.
        if self.limit.is_some() { self.tokens as usize } else { usize::MAX }
    }

    /// So many were sent.
    pub(super) fn spend(&mut self, entries: usize) {
        if self.limit.is_some() {
            self.tokens -= entries as f64;
        }
    }

    /// The most entries of one lane that are worth taking up together: what can be sent in about a second, so that a settlement does
    /// not wait for what has to wait.
    pub(super) fn batch(&self, batch: usize, held: usize) -> usize {
        match self.per_second() {
            Some(rate) => batch.min((rate / held.max(1) as f64) as usize).max(1),
            None => batch,
        }
    }

    /// When something may be sent again, if nothing may be now.
    pub(super) fn wake_at(&self) -> Option<Moment> {
        let rate = self.per_second().filter(|_| self.tokens < 1.0)?;
        let wait = Duration::from_secs_f64(((1.0 - self.tokens) / rate).min(3_600.0));
        // A little later, so that there is a whole one then.
        Some(self.at + wait + Duration::from_micros(100))
    }

    fn refill(&mut self, now: Moment) {
        if let Some(rate) = self.per_second() {
            self.tokens = (self.tokens + now.since(self.at).as_secs_f64() * rate).min(self.most());
        }
        self.at = self.at.max(now);
    }

    fn per_second(&self) -> Option<f64> {
        self.limit.map(|limit| f64::from(limit) * self.share)
    }

    fn most(&self) -> f64 {
        // One more than that, so that a part of one that is left is not lost.
        1.0 + self.per_second().map_or(0.0, |rate| rate * BURST.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Moment {
        Moment::after(Duration::from_millis(ms))
    }

    /// How many entries go in ten seconds, asked every so many milliseconds.
    fn sent(rate: &mut Rate, every: u64) -> usize {
        let mut sent = 0;
        for ms in (0..10_000).step_by(usize::try_from(every).unwrap()) {
            let room = rate.room(at(ms)).min(1_000);
            rate.spend(room);
            sent += room;
        }
        sent
    }

    #[test]
    fn as_many_go_as_are_allowed_however_often_it_is_asked() {
        for limit in [1, 7, 100, 5_000] {
            for every in [1, 10, 100] {
                let mut rate = Rate::new(Some(limit));
                let sent = sent(&mut rate, every);
                let wanted = usize::try_from(limit).unwrap() * 10;
                assert!(
                    (wanted * 9 / 10..=wanted * 11 / 10 + 1).contains(&sent),
                    "{sent} of {wanted}, {every}"
                );
            }
        }
        assert_eq!(Rate::new(None).room(at(0)), usize::MAX);
    }

    #[test]
    fn a_relay_has_the_share_that_it_has_of_the_lanes() {
        let mut rate = Rate::new(Some(100));
        rate.set_share(at(0), 16, 64);
        assert!((240..=260).contains(&sent(&mut rate, 10)));
        assert_eq!(
            (rate.batch(1_000, 16), rate.batch(1, 16), Rate::new(None).batch(1_000, 16)),
            (1, 1, 1_000)
        );
    }

    #[test]
    fn it_wakes_when_there_is_a_whole_one_and_what_was_not_used_is_lost() {
        let mut rate = Rate::new(Some(10));
        assert_eq!(rate.room(at(0)), 1);
        rate.spend(1);
        assert_eq!(rate.room(at(50)), 0);
        let wake = rate.wake_at().unwrap();
        assert!(wake > at(99) && wake < at(102), "{wake:?}");
        assert_eq!(rate.room(wake), 1);
        assert_eq!(rate.room(at(60_000)), 2, "a minute of nothing is not made up for");
        rate.set_limit(at(60_000), None);
        assert_eq!(rate.room(at(60_000)), usize::MAX);
        assert_eq!(rate.wake_at(), None);
    }
}
