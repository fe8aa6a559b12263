//! What was seen of the events before, and so what is new. Pure: it is told what is in the log, and what time it is.

use std::{collections::BTreeMap, time::Duration};

use posthaste::{EventStatus, EventSummary, StatusWord, Timestamp};

/// How many positions behind the newest an event is followed.
const WINDOW: i64 = 1_000;

/// How long a position that is missing may still be filled: by a transaction that took it, and has not committed yet.
const PATIENCE: Duration = Duration::from_secs(60);

/// Something that has happened.
#[derive(Debug)]
pub(super) struct Happened<'e> {
    pub(super) event: &'e EventSummary,
    /// When; for what becomes of an event, when it was seen.
    pub(super) at: Timestamp,
    /// In which subscription what; none if it was published.
    pub(super) status: Option<&'e EventStatus>,
}

/// What is known of an event.
struct Known {
    written_at: Timestamp,
    /// Whether nothing more will happen to it, as far as anybody wants to know.
    is_over: bool,
    told: BTreeMap<String, (StatusWord, u32)>,
}

/// What was seen so far.
pub(super) struct Follow {
    /// Everything up to here is not looked at any more.
    behind: i64,
    known: BTreeMap<i64, Known>,
}

impl Follow {
    /// Begins behind a position.
    pub(super) fn new(behind: i64) -> Self {
        Self { behind, known: BTreeMap::new() }
    }

    /// The position behind which to read: before the first one that is not over, or that is missing and may still come.
    pub(super) fn begin(&mut self, now: Timestamp) -> i64 {
        let newest = self.known.keys().next_back().copied().unwrap_or(self.behind);
        self.behind = self.behind.max(newest - WINDOW);
        self.known = self.known.split_off(&(self.behind + 1));
        let mut behind = self.behind;
        for (position, known) in &self.known {
            let is_gap = *position > behind + 1 && now.since(known.written_at) < PATIENCE;
            if is_gap || !known.is_over {
                break;
            }
            behind = *position;
        }
        self.behind = behind;
        self.known = self.known.split_off(&(self.behind + 1));
        self.behind
    }

    /// Looks at an event of the log, and tells what is new of it.
    pub(super) fn look<'e>(
        &mut self,
        event: &'e EventSummary,
        wanted: bool,
        now: Timestamp,
    ) -> Vec<Happened<'e>> {
        let is_new = !self.known.contains_key(&event.position.0);
        let known = self.known.entry(event.position.0).or_insert_with(|| Known {
            written_at: event.created_at,
            is_over: false,
            told: BTreeMap::new(),
        });
        if !wanted {
            known.is_over = true;
            return Vec::new();
        }
        let published = is_new.then_some(Happened { event, at: event.created_at, status: None });
        let mut happened: Vec<Happened<'e>> = published.into_iter().collect();
        for status in &event.statuses {
            let state = (status.status, status.attempts);
            let before = known.told.insert(status.subscription.clone(), state);
            if before != Some(state) && is_worth_telling(status.status) {
                happened.push(Happened { event, at: now, status: Some(status) });
            }
        }
        known.is_over = event.statuses.iter().all(|status| is_over(status.status));
        happened
    }
}

/// That it waits goes without saying.
fn is_worth_telling(word: StatusWord) -> bool {
    !matches!(word, StatusWord::Pending | StatusWord::Processing)
}

fn is_over(word: StatusWord) -> bool {
    matches!(word, StatusWord::Delivered | StatusWord::Dead | StatusWord::Skipped)
}

#[cfg(test)]
mod tests {
    use posthaste::{EventId, Lane, Position};

    use super::*;

    const NOW: Timestamp = Timestamp(1_000_000_000);

    fn event(position: i64, words: &[(&str, StatusWord, u32)]) -> EventSummary {
        let status = |(subscription, status, attempts): &(&str, StatusWord, u32)| EventStatus {
            subscription: (*subscription).to_owned(),
            status: *status,
            attempts: *attempts,
            last_error: None,
            due_at: None,
            blocked_by: None,
        };
        EventSummary {
            position: Position(position),
            id: EventId::from_bytes([0; 16]),
            event_type: "a".to_owned(),
            event_version: "1.0.0".to_owned(),
            topic: "a".to_owned(),
            key: None,
            lane: Lane(0),
            aggregate_type: None,
            aggregate_id: None,
            version: None,
            tenant_id: None,
            correlation_id: None,
            occurred_at: NOW,
            created_at: NOW,
            deliver_after: None,
            statuses: words.iter().map(status).collect(),
        }
    }

    fn told(follow: &mut Follow, event: &EventSummary) -> Vec<Option<StatusWord>> {
        let happened = follow.look(event, true, NOW);
        happened.iter().map(|one| one.status.map(|status| status.status)).collect()
    }

    #[test]
    fn each_change_is_told_once() {
        use StatusWord::{Delivered, Failed, Pending};
        let mut follow = Follow::new(0);
        assert_eq!(told(&mut follow, &event(1, &[("mail", Pending, 0)])), [None]);
        assert_eq!(told(&mut follow, &event(1, &[("mail", Pending, 0)])), []);
        assert_eq!(told(&mut follow, &event(1, &[("mail", Failed, 1)])), [Some(Failed)]);
        assert_eq!(told(&mut follow, &event(1, &[("mail", Failed, 1)])), []);
        assert_eq!(told(&mut follow, &event(1, &[("mail", Failed, 2)])), [Some(Failed)]);
        assert_eq!(follow.begin(NOW), 0, "it is not over");
        assert_eq!(told(&mut follow, &event(1, &[("mail", Delivered, 2)])), [Some(Delivered)]);
        assert_eq!(follow.begin(NOW), 1, "it is over");
    }

    #[test]
    fn an_event_that_commits_late_is_not_missed() {
        let over: &[(&str, StatusWord, u32)] = &[("mail", StatusWord::Delivered, 0)];
        let mut follow = Follow::new(0);
        told(&mut follow, &event(1, over));
        told(&mut follow, &event(3, over));
        assert_eq!(follow.begin(NOW), 1, "2 may still come");
        assert_eq!(told(&mut follow, &event(2, over)).len(), 2);
        assert_eq!(follow.begin(NOW), 3);

        told(&mut follow, &event(5, over));
        assert_eq!(follow.begin(NOW), 3);
        assert_eq!(follow.begin(NOW + PATIENCE), 5, "4 was rolled back");
    }

    #[test]
    fn one_that_never_ends_is_given_up_at_last() {
        let mut follow = Follow::new(0);
        told(&mut follow, &event(1, &[("mail", StatusWord::Failed, 1)]));
        for position in 2..=WINDOW + 1 {
            told(&mut follow, &event(position, &[("mail", StatusWord::Delivered, 0)]));
        }
        assert_eq!(follow.begin(NOW), WINDOW + 1);
        assert!(follow.known.is_empty());
    }

    #[test]
    fn what_nobody_wants_is_over_at_once() {
        let mut follow = Follow::new(0);
        assert!(follow.look(&event(1, &[("mail", StatusWord::Failed, 1)]), false, NOW).is_empty());
        assert_eq!(follow.begin(NOW), 1);
    }
}
