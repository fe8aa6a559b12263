//! Health: what is known, judged by limits. Pure, but for the gathering of facts.

pub(crate) mod facts;
mod limits;

use std::time::Duration;

use serde::Serialize;
use utoipa::ToSchema;

pub(crate) use self::facts::gather;
use self::facts::{AnswerFact, Facts, SubscriptionFact};
pub use self::limits::Limits;

/// How something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum State {
    /// As it should be.
    Fine,
    /// Not known yet, or not to be known here.
    Unknown,
    /// Somebody should know.
    Warning,
    /// Somebody has to do something.
    Failing,
}

/// Something that was looked at.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub(crate) struct Check {
    /// What: `publisher`, `lease`, `database`, `progress`, `sink`, `lag`, `retry_depth`, `success_rate`, `dead_letter_growth`,
    /// `orphaned_events` or `journal`.
    #[schema(example = "lag")]
    pub(crate) name: &'static str,
    /// Of which subscription; none if of the whole.
    #[schema(example = "billing")]
    pub(crate) subscription: Option<String>,
    /// How it is.
    pub(crate) state: State,
    /// The figure, if it has one.
    #[schema(example = 3.5)]
    pub(crate) value: Option<f64>,
    /// From where on it is bad.
    #[schema(example = 60.0)]
    pub(crate) limit: Option<f64>,
    /// In words.
    #[schema(example = "the oldest event is 3.5 s old")]
    pub(crate) detail: String,
}

impl Check {
    fn new(name: &'static str, state: State, detail: impl Into<String>) -> Self {
        Self { name, subscription: None, state, value: None, limit: None, detail: detail.into() }
    }

    fn of(mut self, subscription: &str) -> Self {
        self.subscription = Some(subscription.to_owned());
        self
    }

    /// Bad from a limit on.
    fn upto(name: &'static str, value: f64, limit: f64, detail: String) -> Self {
        let state = if value > limit { State::Failing } else { State::Fine };
        Self { value: Some(value), limit: Some(limit), ..Self::new(name, state, detail) }
    }
}

/// The checks of which one that fails makes the relay not ready: it does not get on with its work.
const READINESS: [&str; 4] = ["publisher", "lease", "database", "progress"];

/// Whether the relay gets on with its work. What is not known yet is no reason to wait for.
pub(crate) fn is_ready(checks: &[Check]) -> bool {
    checks.iter().all(|check| check.state != State::Failing || !READINESS.contains(&check.name))
}

/// Why the relay is not ready, in words that tell strangers nothing.
pub(crate) fn reasons(checks: &[Check]) -> Vec<&'static str> {
    let failing = |name: &str| checks.iter().any(|check| check.name == name && check.state == State::Failing);
    let words = [
        ("publisher", "the relay does not run"),
        ("lease", "the relay has no lease"),
        ("database", "the database does not answer"),
        ("progress", "a subscription with work stands still"),
    ];
    words.into_iter().filter(|(name, _)| failing(name)).map(|(_, words)| words).collect()
}

/// The worst of all states.
pub(crate) fn worst(checks: &[Check]) -> State {
    // What is not known is not better than what is fine, but it is no trouble either.
    let states = checks.iter().map(|check| check.state).filter(|state| *state != State::Unknown);
    states.max().unwrap_or(State::Unknown)
}

/// Everything that is looked at.
pub(crate) fn checks(facts: &Facts, limits: &Limits) -> Vec<Check> {
    let mut checks = relay(facts);
    checks.push(database(facts.database.as_ref()));
    checks.extend(facts.sinks.iter().map(|(name, answer)| sink(answer.as_ref()).of(name)));
    for subscription in &facts.subscriptions {
        checks.extend(of_subscription(subscription, limits));
    }
    checks.push(orphaned(facts.orphaned));
    checks.push(match &facts.damage {
        Some(damage) if !damage.is_empty() => {
            let what = "nobody can deliver their events; restore the table of lines from a backup, or drop and create the \
                        subscription again";
            Check::new("journal", State::Failing, format!("{}: {what}", damage.join("; ")))
        }
        Some(_) => Check::new("journal", State::Fine, "every lane has its lines"),
        None => Check::new("journal", State::Unknown, "the tables were not looked over yet"),
    });
    checks
}

fn relay(facts: &Facts) -> Vec<Check> {
    let Some(relay) = &facts.relay else {
        return vec![Check::new("publisher", State::Unknown, "no relay runs in this process")];
    };
    let id = relay.id.as_deref().unwrap_or("without an id yet");
    let publisher = if relay.running {
        Check::new("publisher", State::Fine, format!("the relay runs: {id}"))
    } else {
        Check::new("publisher", State::Failing, "the relay does not run")
    };
    let lease = match relay.lease_left {
        Some(left) => Check {
            value: Some(left.as_secs_f64()),
            ..Check::new("lease", State::Fine, format!("it may send for {left:.1?} more without a renewal"))
        },
        None => Check::new("lease", State::Failing, "the lease is lost, or was never got; nothing is sent"),
    };
    vec![publisher, lease]
}

/// An answer that is older than this says nothing any more.
const STALE: Duration = Duration::from_secs(60);

fn database(answer: Option<&AnswerFact>) -> Check {
    match answer {
        None => Check::new("database", State::Unknown, "it was not asked yet"),
        Some(AnswerFact { answer: Ok(took), age }) if *age < STALE => Check {
            value: Some(took.as_secs_f64()),
            ..Check::new("database", State::Fine, format!("it answered within {took:.1?}"))
        },
        Some(AnswerFact { answer: Ok(_), age }) => {
            Check::new("database", State::Failing, format!("the last answer was {age:.0?} ago"))
        }
        Some(AnswerFact { answer: Err(error), .. }) => Check::new("database", State::Failing, error),
    }
}

fn sink(answer: Option<&AnswerFact>) -> Check {
    match answer.map(|fact| &fact.answer) {
        None => Check::new("sink", State::Unknown, "it was not asked yet"),
        Some(Ok(took)) => Check {
            value: Some(took.as_secs_f64()),
            ..Check::new("sink", State::Fine, format!("it answered within {took:.1?}"))
        },
        Some(Err(error)) => Check::new("sink", State::Failing, error),
    }
}

fn of_subscription(fact: &SubscriptionFact, limits: &Limits) -> [Check; 5] {
    let checks = [
        progress(fact, limits),
        lag(fact, limits),
        Check::upto(
            "retry_depth",
            fact.failed as f64,
            limits.retry_depth as f64,
            format!("{} events wait for a retry or behind one", fact.failed),
        ),
        success_rate(fact, limits),
        Check::upto(
            "dead_letter_growth",
            fact.died_last_hour as f64,
            limits.dead_per_hour as f64,
            format!("{} events died in the last hour", fact.died_last_hour),
        ),
    ];
    checks.map(|check| check.of(&fact.name))
}

fn progress(fact: &SubscriptionFact, limits: &Limits) -> Check {
    if fact.paused {
        return Check::new("progress", State::Warning, format!("it is paused; {} events wait", fact.pending));
    }
    let still = fact.still.as_secs_f64();
    let detail = format!("{} events wait, and it has stood still for {still:.0} s", fact.pending);
    Check::upto("progress", still, limits.stalled.as_secs_f64(), detail)
}

fn lag(fact: &SubscriptionFact, limits: &Limits) -> Check {
    let lag = fact.lag.as_secs_f64();
    let detail = format!("the oldest event that is not delivered is {lag:.1} s old");
    let check = Check::upto("lag", lag, limits.lag.as_secs_f64(), detail);
    // Somebody wanted it.
    if fact.paused { Check { state: check.state.min(State::Warning), ..check } } else { check }
}

fn success_rate(fact: &SubscriptionFact, limits: &Limits) -> Check {
    let all = fact.delivered + fact.unsuccessful;
    if all < 1.0 {
        return Check {
            limit: Some(limits.success_rate),
            ..Check::new(
                "success_rate",
                State::Unknown,
                "nothing was tried in the last quarter of an hour here",
            )
        };
    }
    let rate = fact.delivered / all;
    let state = if rate < limits.success_rate { State::Failing } else { State::Fine };
    let detail = format!("{:.1} % of the deliveries of the last quarter of an hour succeeded", rate * 100.0);
    Check { value: Some(rate), limit: Some(limits.success_rate), ..Check::new("success_rate", state, detail) }
}

fn orphaned(count: Option<u64>) -> Check {
    match count {
        None => Check::new("orphaned_events", State::Unknown, "it was not counted"),
        Some(count) => Check::upto(
            "orphaned_events",
            count as f64,
            0.0,
            format!("{count} events will never be delivered"),
        ),
    }
}

#[cfg(test)]
mod tests;
