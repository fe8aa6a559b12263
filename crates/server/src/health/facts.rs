//! What is known when health is judged.

use std::time::Duration;

use tokio::time::Instant;

use crate::{app::App, live::known::Asked};

/// What is known when health is judged.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    /// The relay in this process, if there is to be one.
    pub(crate) relay: Option<RelayFact>,
    /// How the last question to the database went, and how long ago that was; none if it was not asked yet.
    pub(crate) database: Option<AnswerFact>,
    /// The destinations that this process delivers to, by subscription.
    pub(crate) sinks: Vec<(String, Option<AnswerFact>)>,
    pub(crate) subscriptions: Vec<SubscriptionFact>,
    /// Events that nobody will ever deliver; none if that is not known.
    pub(crate) orphaned: Option<u64>,
    /// What is wrong with the tables; none if they were not looked over yet.
    pub(crate) damage: Option<Vec<String>>,
}

/// The relay in this process.
#[derive(Clone, Debug, Default)]
pub(crate) struct RelayFact {
    pub(crate) running: bool,
    pub(crate) id: Option<String>,
    pub(crate) lease_left: Option<Duration>,
}

/// How a question went.
#[derive(Clone, Debug)]
pub(crate) struct AnswerFact {
    /// How long the answer took, or what was said instead.
    pub(crate) answer: Result<Duration, String>,
    /// How long ago that was.
    pub(crate) age: Duration,
}

/// A subscription.
#[derive(Clone, Debug, Default)]
pub(crate) struct SubscriptionFact {
    pub(crate) name: String,
    pub(crate) paused: bool,
    pub(crate) pending: u64,
    pub(crate) failed: u64,
    pub(crate) lag: Duration,
    /// For how long it has had work and has not moved.
    pub(crate) still: Duration,
    /// What was delivered and what failed in the last quarter of an hour, in this process.
    pub(crate) delivered: f64,
    pub(crate) unsuccessful: f64,
    pub(crate) died_last_hour: u64,
}

/// What the server knows now.
pub(crate) fn gather(app: &App, now: Instant) -> Facts {
    let known = app.hub.known();
    let relay = match app.backing.get() {
        Some(backing) => backing.pulse.as_ref().map(|pulse| RelayFact {
            running: pulse.is_running(),
            id: pulse.id().map(|id| id.0),
            lease_left: pulse.lease_left(),
        }),
        // It waits for the database.
        None => Some(RelayFact::default()),
    };
    let asked = |asked: &Asked| AnswerFact {
        answer: asked.answer.clone(),
        age: now.saturating_duration_since(asked.at),
    };
    let sinks = app.sinks.iter().map(|(name, _)| (name.clone(), known.sinks.get(name).map(asked)));
    let status = known.status.as_ref();
    let subscriptions = status.map(|status| status.subscriptions.as_slice()).unwrap_or_default();
    let subscriptions = subscriptions.iter().map(|found| {
        let (delivered, unsuccessful) = known.ring.totals(&found.name);
        SubscriptionFact {
            name: found.name.clone(),
            paused: found.paused,
            pending: found.pending,
            failed: found.failed,
            lag: Duration::from_secs_f64(found.oldest_age_seconds.unwrap_or(0.0).clamp(0.0, 1e9)),
            still: known.progress.still(&found.name),
            delivered,
            unsuccessful,
            died_last_hour: found.dead_last_hour,
        }
    });
    Facts {
        relay,
        database: known.database.as_ref().map(asked),
        sinks: sinks.collect(),
        subscriptions: subscriptions.collect(),
        orphaned: status.map(|status| status.orphaned),
        damage: known.damage.clone(),
    }
}
