//! What just happened, told to those who look: found by comparing one second with the next. Pure.

use serde::Serialize;
use utoipa::ToSchema;

use super::sample::{Sample, Second};
use crate::time;

/// Something that just happened in a subscription.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct Notice {
    /// When.
    #[schema(example = "2026-03-01T12:00:00.000000Z", format = DateTime)]
    pub(crate) at: String,
    /// In which subscription.
    #[schema(example = "billing")]
    pub(crate) subscription: String,
    /// What: `dead_letter`, `paused`, `resumed`, `circuit_open`, `circuit_closed`.
    #[schema(example = "dead_letter")]
    pub(crate) what: &'static str,
    /// How many, where that is known.
    pub(crate) count: Option<u32>,
}

/// What happened between two samples.
pub(crate) fn notices(before: &Sample, now: &Sample) -> Vec<Notice> {
    let both =
        now.subscriptions.iter().filter_map(|(name, now)| Some((name, before.subscriptions.get(name)?, now)));
    both.flat_map(|(name, before, second)| {
        changes(before, second).into_iter().map(|(what, count)| Notice {
            at: time::text(now.at),
            subscription: name.clone(),
            what,
            count,
        })
    })
    .collect()
}

fn changes(before: &Second, now: &Second) -> Vec<(&'static str, Option<u32>)> {
    let mut changes = Vec::new();
    if now.dead > before.dead {
        changes.push(("dead_letter", Some(now.dead - before.dead)));
    } else if now.dead_per_second > 0.0 {
        // As many were resolved meanwhile as died.
        changes.push(("dead_letter", None));
    }
    match (before.paused, now.paused) {
        (false, true) => changes.push(("paused", None)),
        (true, false) => changes.push(("resumed", None)),
        _ => {}
    }
    match (before.circuit_open, now.circuit_open) {
        (false, true) => changes.push(("circuit_open", None)),
        (true, false) => changes.push(("circuit_closed", None)),
        _ => {}
    }
    changes
}

#[cfg(test)]
mod tests {
    use posthaste::Timestamp;

    use super::*;

    fn sample(second: Second) -> Sample {
        Sample { at: Timestamp(0), subscriptions: [("a".to_owned(), second)].into() }
    }

    #[test]
    fn each_change_is_told_once() {
        let fine = Second::default();
        let bad = Second { dead: 3, paused: true, circuit_open: true, ..fine };
        let told = |before, now| -> Vec<_> {
            let notices = notices(&sample(before), &sample(now));
            notices.into_iter().map(|notice| (notice.what, notice.count)).collect()
        };

        assert_eq!(told(fine, bad), [("dead_letter", Some(3)), ("paused", None), ("circuit_open", None)]);
        assert_eq!(told(bad, fine), [("resumed", None), ("circuit_closed", None)]);
        assert_eq!(told(bad, bad), []);
        assert_eq!(told(fine, Second { dead_per_second: 1.0, ..fine }), [("dead_letter", None)]);
        let empty = Sample { at: Timestamp(0), subscriptions: Default::default() };
        assert_eq!(notices(&empty, &sample(bad)), [], "who starts does not tell what was before");
    }
}
