//! What can change while a relay runs, as operators see it.

use posthaste::{Result, Tuning};

/// What can change while a relay runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tuned {
    /// How it polls, how much it takes up at a time, how fast it delivers.
    pub tuning: Tuning,
    /// What is logged: a level, also by module.
    pub log_level: String,
}

/// A relay that can be set otherwise while it runs.
pub trait Tunable: Send + Sync + 'static {
    /// How it is set now.
    fn tuned(&self) -> Tuned;

    /// Sets it otherwise, all of it or nothing.
    fn tune(&self, tuned: &Tuned) -> Result<()>;

    /// The configuration that counts, as a file without secrets; none if there is none.
    fn shown(&self) -> Option<String>;
}

/// What is different between two, in words; nothing if nothing is.
pub(crate) fn difference(before: &Tuned, now: &Tuned) -> Vec<String> {
    let (old, new) = (&before.tuning, &now.tuning);
    let mut changes = Vec::new();
    let mut note = |name: &str, old: String, new: String| {
        if old != new {
            changes.push(format!("{name} {old} → {new}"));
        }
    };
    note("batch", old.batch.to_string(), new.batch.to_string());
    note("poll_min", format!("{:?}", old.poll_min), format!("{:?}", new.poll_min));
    note("poll_max", format!("{:?}", old.poll_max), format!("{:?}", new.poll_max));
    note("log_level", before.log_level.clone(), now.log_level.clone());
    let mut names: Vec<&String> = old.rate_limits.keys().chain(new.rate_limits.keys()).collect();
    names.sort();
    names.dedup();
    for name in names {
        let text = |limit: Option<&u32>| limit.map_or("none".to_owned(), |limit| format!("{limit}/s"));
        note(
            &format!("rate_limit of {name}"),
            text(old.rate_limits.get(name)),
            text(new.rate_limits.get(name)),
        );
    }
    changes
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use posthaste::Settings;

    use super::*;

    #[test]
    fn what_was_changed_is_told_and_nothing_else() {
        let before = Tuned { tuning: Tuning::of(&Settings::default()), log_level: "info".to_owned() };
        assert!(difference(&before, &before).is_empty());
        let mut now = before.clone();
        now.tuning.batch = 5;
        now.tuning.poll_max = Duration::from_millis(20);
        now.tuning.rate_limits.insert("billing".to_owned(), 50);
        now.log_level = "debug".to_owned();
        assert_eq!(
            difference(&before, &now),
            [
                "batch 1000 → 5",
                "poll_max 1s → 20ms",
                "log_level info → debug",
                "rate_limit of billing none → 50/s"
            ]
        );
    }
}
