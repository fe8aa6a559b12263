//! Adaptive polling: while events keep coming the next read follows at once or soon; the longer nothing has come, the longer the waits.

use std::time::Duration;

use crate::Moment;

/// What ends a silence is found after at most this part of it, but for the bounds: publishers pause for moments even under load, and what they
/// publish then should not have to wait for long because of it.
const PART_OF_SILENCE: u32 = 8;

#[derive(Debug)]
pub(super) struct Pace {
    min: Duration,
    max: Duration,
    next: Moment,
    /// The first read that brought nothing after one that did, or after somebody rang.
    quiet_since: Option<Moment>,
    /// Somebody rang, and the lanes at the front were not read since.
    unread: bool,
    /// Somebody rang, and what is parked was not read since.
    unread_parked: bool,
    /// By then the lanes at the front are to be read, whatever the wait is.
    owed: Option<Moment>,
    /// The log could not be read: no ring makes it be asked again before.
    held_off_until: Moment,
    /// The wait after the next failure.
    setback: Duration,
}

impl Pace {
    pub(super) fn new(min: Duration, max: Duration) -> Self {
        Self {
            min,
            max,
            next: Moment::default(),
            quiet_since: None,
            unread: false,
            unread_parked: false,
            owed: None,
            held_off_until: Moment::default(),
            setback: min,
        }
    }

    /// Other bounds from now on: who waits longer than is allowed now does not.
    pub(super) fn set_bounds(&mut self, now: Moment, min: Duration, max: Duration) {
        (self.min, self.max) = (min, max);
        self.setback = self.setback.clamp(min, max);
        self.next = self.next.min(now + max);
    }

    /// Whether the log is to be read again: it is time, or somebody rang for what can be read.
    pub(super) fn is_due(&self, now: Moment, lanes: bool, parked: bool) -> bool {
        let wanted = self.unread || self.owed.is_some_and(|at| at <= now);
        self.next <= now || (wanted && lanes) || (self.unread_parked && parked)
    }

    /// A read up to now begins, of the lanes at the front or of what is parked. Who rings from here on may mean what it does not
    /// see any more.
    pub(super) fn begin(&mut self, lanes: bool, parked: bool) {
        self.unread &= !lanes;
        self.owed = self.owed.filter(|_| !lanes);
        self.unread_parked &= !parked;
    }

    /// When to wake for it: also somebody who rang has to wait for a log that has just failed.
    pub(super) fn wake_at(&self) -> [Option<Moment>; 2] {
        [Some(self.next), self.owed].map(|at| Some(at?.max(self.held_off_until)))
    }

    /// Somebody rang: read now, and expect more.
    pub(super) fn ring(&mut self) {
        self.next = Moment::default();
        self.quiet_since = None;
        (self.unread, self.unread_parked) = (true, true);
    }

    /// The log is to be read by then, also if nobody rings. It is no reason to expect more.
    pub(super) fn read_by(&mut self, at: Moment) {
        self.owed = Some(self.owed.map_or(at, |earlier| earlier.min(at)));
    }

    /// A read brought entries; `more` if its limit ended it.
    pub(super) fn found(&mut self, now: Moment, more: bool) {
        (self.quiet_since, self.setback) = (None, self.min);
        self.next = if more { now } else { now + self.min };
    }

    /// A read brought nothing.
    pub(super) fn found_nothing(&mut self, now: Moment) {
        let silence = now.since(*self.quiet_since.get_or_insert(now));
        self.next = now + (silence / PART_OF_SILENCE).clamp(self.min, self.max);
        self.setback = self.min;
    }

    /// A read failed: wait longer each time, whoever rings.
    pub(super) fn failed(&mut self, now: Moment) {
        self.next = now + self.setback;
        self.quiet_since = None;
        self.setback = (self.setback * 2).min(self.max);
        self.held_off_until = self.next;
    }

    /// Whether the log is to be left alone after a failure.
    pub(super) fn holds_off(&self, now: Moment) -> bool {
        now < self.held_off_until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wakes_at(pace: &Pace) -> Moment {
        pace.wake_at().into_iter().flatten().min().unwrap()
    }

    #[test]
    fn waits_grow_while_nothing_comes_and_start_over_when_something_does() {
        let ms = Duration::from_millis;
        let now = Moment::after(ms(1_000));
        let mut pace = Pace::new(ms(2), ms(10));
        let wait_after = |pace: &mut Pace, silence: u64| {
            let at = now + ms(silence);
            pace.found_nothing(at);
            pace.next.since(at)
        };
        let silences = [0, 2, 15, 16, 24, 40, 79, 80, 1_000];
        let waits = silences.map(|silence| wait_after(&mut pace, silence).as_micros());
        assert_eq!(waits, [2_000, 2_000, 2_000, 2_000, 3_000, 5_000, 9_875, 10_000, 10_000]);

        pace.ring();
        assert_eq!(
            [0, 40].map(|silence| wait_after(&mut pace, silence)),
            [2, 5].map(ms),
            "a ring ends it too"
        );
        pace.found(now, false);
        assert_eq!(pace.next, now + ms(2));
        pace.found(now, true);
        assert_eq!(pace.next, now);
        pace.ring();
        assert!(pace.is_due(now, false, false));
    }

    #[test]
    fn a_ring_is_not_forgotten_before_a_read_that_began_after_it() {
        let ms = Duration::from_millis;
        let now = Moment::after(ms(1_000));
        let mut pace = Pace::new(ms(2), ms(10));
        let reads = |pace: &Pace| (pace.is_due(now, true, false), pace.is_due(now, false, true));
        pace.begin(true, true);
        pace.ring();
        pace.found_nothing(now);
        assert_eq!(reads(&pace), (true, true), "the read under way may not have seen it");

        pace.begin(false, true);
        pace.found_nothing(now);
        assert_eq!(reads(&pace), (true, false), "only what is parked was read");
        pace.begin(true, false);
        pace.found(now, false);
        assert_eq!(reads(&pace), (false, false));
    }

    #[test]
    fn a_read_that_is_owed_is_made_in_time_and_changes_no_wait() {
        let ms = Duration::from_millis;
        let now = Moment::after(ms(1_000));
        let mut pace = Pace::new(ms(400), ms(1_000));
        pace.begin(true, true);
        pace.read_by(now + ms(100));
        pace.read_by(now + ms(150));
        pace.found_nothing(now);

        assert_eq!(wakes_at(&pace), now + ms(100), "the read under way may not have seen it");
        assert!(!pace.is_due(now + ms(99), true, true) && pace.is_due(now + ms(100), true, false));
        assert!(!pace.is_due(now + ms(100), false, true), "no lane can be read");
        pace.begin(false, true);
        assert!(pace.is_due(now + ms(100), true, false), "only what is parked was read");
        pace.begin(true, false);
        pace.found_nothing(now + ms(100));
        assert_eq!(wakes_at(&pace), now + ms(500), "as if it had not been made");
    }

    #[test]
    fn after_failures_it_waits_longer_each_time_however_often_somebody_rings() {
        let ms = Duration::from_millis;
        let mut now = Moment::after(ms(1_000));
        let mut pace = Pace::new(ms(2), ms(10));
        let mut waits = Vec::new();
        for _ in 0..5 {
            pace.ring();
            pace.failed(now);
            pace.ring();
            waits.push(wakes_at(&pace).since(now));
            now = wakes_at(&pace);
        }
        assert_eq!(waits, [2, 4, 8, 10, 10].map(ms));

        pace.found_nothing(now);
        pace.failed(now);
        assert_eq!(wakes_at(&pace), now + ms(2), "one that succeeded ends it");
    }

    #[test]
    fn other_bounds_count_at_once() {
        let ms = Duration::from_millis;
        let now = Moment::after(ms(1_000));
        let mut pace = Pace::new(ms(2), ms(10_000));
        let later = now + ms(80_000);
        pace.found_nothing(now);
        pace.found_nothing(later);
        assert_eq!(pace.next, later + ms(10_000));

        pace.set_bounds(later, ms(5), ms(20));
        assert_eq!(pace.next, later + ms(20));
        pace.found_nothing(later);
        assert_eq!(pace.next, later + ms(20));
        pace.found(now, false);
        assert_eq!(pace.next, now + ms(5));
    }
}
