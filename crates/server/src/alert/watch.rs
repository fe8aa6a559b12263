//! Which alerts follow from what is seen. Pure: time is an argument.
//!
//! The first time is told at once. After that nothing more is told of the same thing in the same subscription until it has been quiet
//! for long enough: what happens meanwhile is counted, and what comes and goes is told once, as it stands then.

use std::{collections::BTreeMap, time::Duration};

use tokio::time::Instant;

use super::{Alert, Alerts, Kind, News};
use crate::live::sample::{Sample, Second};

/// What was seen, and what was told of it.
#[derive(Debug)]
pub(crate) struct Watch {
    quiet: Duration,
    lag: Duration,
    dead_letters: u64,
    before: BTreeMap<String, Second>,
    told: BTreeMap<(String, Kind), Told>,
}

#[derive(Debug, Default)]
struct Told {
    /// When something was told last.
    at: Option<Instant>,
    /// Whether it was told that it is so.
    is_so: bool,
    /// What happened since.
    count: u64,
}

impl Watch {
    pub(crate) fn new(alerts: &Alerts) -> Self {
        let Alerts { quiet, lag, dead_letters, .. } = *alerts;
        Self { quiet, lag, dead_letters, before: BTreeMap::new(), told: BTreeMap::new() }
    }

    /// What somebody should hear of now.
    pub(crate) fn see(&mut self, now: Instant, sample: &Sample) -> Vec<Alert> {
        let mut alerts = Vec::new();
        for (name, second) in &sample.subscriptions {
            let died = self.before.get(name).map_or(0, |before| died(before, second));
            let lag = f64::from(second.lag_seconds);
            let late = lag > self.lag.as_secs_f64() && !second.paused;
            let news = [
                (Kind::DeadLetter, self.count(now, name, died)),
                (Kind::Paused, self.state(now, (name, Kind::Paused), second.paused, None)),
                (Kind::CircuitOpen, self.state(now, (name, Kind::CircuitOpen), second.circuit_open, None)),
                (Kind::Lag, self.state(now, (name, Kind::Lag), late, Some(lag))),
            ];
            alerts
                .extend(news.into_iter().filter_map(|(kind, news)| {
                    Some(Alert { kind, subscription: name.clone(), news: news? })
                }));
        }
        self.before.clone_from(&sample.subscriptions);
        self.told.retain(|(name, _), _| sample.subscriptions.contains_key(name));
        alerts
    }

    /// Something happens, so many times.
    fn count(&mut self, now: Instant, name: &str, times: u64) -> Option<News> {
        let (quiet, least) = (self.quiet, self.dead_letters.max(1));
        let told = self.told.entry((name.to_owned(), Kind::DeadLetter)).or_default();
        told.count += times;
        if told.count < least || !told.may_speak(now, quiet) {
            return None;
        }
        told.at = Some(now);
        Some(News::Happened(std::mem::take(&mut told.count)))
    }

    /// Something is so, or is not.
    fn state(
        &mut self,
        now: Instant,
        (name, kind): (&str, Kind),
        is_so: bool,
        figure: Option<f64>,
    ) -> Option<News> {
        let quiet = self.quiet;
        let told = self.told.entry((name.to_owned(), kind)).or_default();
        if told.is_so == is_so || !told.may_speak(now, quiet) {
            return None;
        }
        (told.is_so, told.at) = (is_so, Some(now));
        Some(if is_so { News::Began(figure) } else { News::Ended })
    }
}

impl Told {
    fn may_speak(&self, now: Instant, quiet: Duration) -> bool {
        self.at.is_none_or(|at| now.duration_since(at) >= quiet)
    }
}

/// How many events died between two seconds: some may have been resolved meanwhile, and other relays are not counted here.
fn died(before: &Second, now: &Second) -> u64 {
    let grown = u64::from(now.dead.saturating_sub(before.dead));
    grown.max(u64::from(now.dead_per_second > 0.0))
}

#[cfg(test)]
mod tests {
    use posthaste::Timestamp;

    use super::*;

    const QUIET: Duration = Duration::from_secs(300);

    struct Story {
        watch: Watch,
        start: Instant,
    }

    impl Story {
        fn new() -> Self {
            Self::with(1)
        }

        /// Dead letters are told from so many on.
        fn with(dead_letters: u64) -> Self {
            let alerts = Alerts { quiet: QUIET, lag: Duration::from_secs(60), dead_letters, webhook: None };
            Self { watch: Watch::new(&alerts), start: Instant::now() }
        }

        /// What is told at a second.
        fn at(&mut self, second: u64, seen: Second) -> Vec<(Kind, News)> {
            let sample = Sample { at: Timestamp(0), subscriptions: [("a".to_owned(), seen)].into() };
            let alerts = self.watch.see(self.start + Duration::from_secs(second), &sample);
            alerts.into_iter().map(|alert| (alert.kind, alert.news)).collect()
        }
    }

    fn dead(dead: u32) -> Second {
        Second { dead, ..Second::default() }
    }

    #[test]
    fn the_first_death_is_told_at_once_and_the_next_ones_together() {
        let mut story = Story::new();
        assert_eq!(story.at(0, dead(5)), [], "what was there before is no news");
        assert_eq!(story.at(1, dead(6)), [(Kind::DeadLetter, News::Happened(1))]);
        assert_eq!(story.at(2, dead(9)), []);
        assert_eq!(story.at(3, dead(0)), [], "somebody resolved them");
        assert_eq!(story.at(4, dead(2)), []);
        assert_eq!(story.at(301, dead(2)), [(Kind::DeadLetter, News::Happened(5))]);
        assert_eq!(story.at(900, dead(2)), []);
    }

    #[test]
    fn few_deaths_are_told_when_they_are_many() {
        let mut story = Story::with(3);
        assert_eq!(story.at(0, dead(0)), []);
        assert_eq!(story.at(1, dead(2)), []);
        assert_eq!(story.at(2, dead(3)), [(Kind::DeadLetter, News::Happened(3))]);
        assert_eq!(story.at(500, dead(5)), []);
        assert_eq!(story.at(501, dead(6)), [(Kind::DeadLetter, News::Happened(3))]);
    }

    #[test]
    fn a_state_is_told_when_it_begins_and_when_it_ends() {
        let mut story = Story::new();
        let (fine, paused) = (Second::default(), Second { paused: true, ..Second::default() });
        assert_eq!(story.at(0, fine), []);
        assert_eq!(story.at(1, paused), [(Kind::Paused, News::Began(None))]);
        assert_eq!(story.at(2, paused), []);
        assert_eq!(story.at(400, fine), [(Kind::Paused, News::Ended)]);
    }

    #[test]
    fn what_comes_and_goes_is_told_once() {
        let mut story = Story::new();
        let (fine, down) = (Second::default(), Second { circuit_open: true, ..Second::default() });
        assert_eq!(
            story.at(0, down),
            [(Kind::CircuitOpen, News::Began(None))],
            "also what is so at the start"
        );
        for second in 1..300 {
            assert_eq!(story.at(second, if second % 2 == 0 { down } else { fine }), []);
        }
        assert_eq!(story.at(300, down), [], "it is as it was told");
        assert_eq!(story.at(301, fine), [(Kind::CircuitOpen, News::Ended)]);
        assert_eq!(story.at(302, down), []);
        assert_eq!(story.at(601, down), [(Kind::CircuitOpen, News::Began(None))]);
    }

    #[test]
    fn lag_over_the_limit_and_back_but_not_of_what_is_paused() {
        let mut story = Story::new();
        let late = |seconds| Second { lag_seconds: seconds, ..Second::default() };
        assert_eq!(story.at(0, late(60.0)), []);
        assert_eq!(story.at(1, late(61.0)), [(Kind::Lag, News::Began(Some(61.0)))]);
        assert_eq!(story.at(400, late(1.0)), [(Kind::Lag, News::Ended)]);
        let paused = Second { paused: true, ..late(99.0) };
        assert_eq!(story.at(800, paused), [(Kind::Paused, News::Began(None))]);
    }

    #[test]
    fn one_thing_does_not_silence_another() {
        let mut story = Story::new();
        assert_eq!(story.at(0, Second::default()), []);
        let all = Second { dead: 1, paused: true, circuit_open: true, ..Second::default() };
        assert_eq!(story.at(1, all).len(), 3);
    }
}
