//! Facts and what is made of them.

use std::time::Duration;

use super::{facts::RelayFact, *};

fn subscription() -> SubscriptionFact {
    SubscriptionFact { name: "a".to_owned(), delivered: 100.0, ..SubscriptionFact::default() }
}

fn answered(seconds: u64) -> AnswerFact {
    AnswerFact { answer: Ok(Duration::from_millis(3)), age: Duration::from_secs(seconds) }
}

fn silent() -> AnswerFact {
    AnswerFact { answer: Err("connection refused".to_owned()), age: Duration::ZERO }
}

fn healthy() -> Facts {
    let lease_left = Some(Duration::from_secs(9));
    Facts {
        relay: Some(RelayFact { running: true, id: Some("r1".to_owned()), lease_left }),
        database: Some(answered(1)),
        sinks: vec![("a".to_owned(), Some(answered(1)))],
        subscriptions: vec![subscription()],
        orphaned: Some(0),
        damage: None,
    }
}

fn with(change: impl FnOnce(&mut SubscriptionFact)) -> Facts {
    let mut facts = healthy();
    change(&mut facts.subscriptions[0]);
    facts
}

fn relay(change: impl FnOnce(&mut RelayFact)) -> Facts {
    let mut relay = healthy().relay.unwrap();
    change(&mut relay);
    Facts { relay: Some(relay), ..healthy() }
}

/// The checks that are not fine, whether the relay is ready, and the worst of all.
fn judge(facts: &Facts) -> (Vec<(&'static str, State)>, bool, State) {
    let checks = checks(facts, &Limits::default());
    let bad = checks.iter().filter(|check| check.state != State::Fine);
    (bad.map(|check| (check.name, check.state)).collect(), is_ready(&checks), worst(&checks))
}

#[test]
fn each_fact_shows_in_its_check() {
    use State::{Failing, Fine, Unknown, Warning};
    let minutes = |minutes: u64| Duration::from_secs(60 * minutes);
    for (what, facts, bad, ready, whole) in [
        ("all is well", healthy(), vec![], true, Fine),
        (
            "the relay is gone",
            relay(|fact| fact.running = false),
            vec![("publisher", Failing)],
            false,
            Failing,
        ),
        ("the lease is lost", relay(|fact| fact.lease_left = None), vec![("lease", Failing)], false, Failing),
        (
            "no relay is meant to be here",
            Facts { relay: None, ..healthy() },
            vec![("publisher", Unknown)],
            true,
            Fine,
        ),
        (
            "the database is down",
            Facts { database: Some(silent()), ..healthy() },
            vec![("database", Failing)],
            false,
            Failing,
        ),
        (
            "the database hangs",
            Facts { database: Some(answered(61)), ..healthy() },
            vec![("database", Failing)],
            false,
            Failing,
        ),
        ("it has just begun", Facts { database: None, ..healthy() }, vec![("database", Unknown)], true, Fine),
        (
            "a destination is down",
            Facts { sinks: vec![("a".to_owned(), Some(silent()))], ..healthy() },
            vec![("sink", Failing)],
            true,
            Failing,
        ),
        (
            "a destination was not asked",
            Facts { sinks: vec![("a".to_owned(), None)], ..healthy() },
            vec![("sink", Unknown)],
            true,
            Fine,
        ),
        ("it lags", with(|fact| fact.lag = minutes(2)), vec![("lag", Failing)], true, Failing),
        ("it is at the limit", with(|fact| fact.lag = minutes(1)), vec![], true, Fine),
        (
            "it stands still",
            with(|fact| fact.still = minutes(3)),
            vec![("progress", Failing)],
            false,
            Failing,
        ),
        (
            "it is paused and lags",
            with(|fact| {
                fact.paused = true;
                fact.lag = minutes(9);
                fact.still = minutes(9)
            }),
            vec![("progress", Warning), ("lag", Warning)],
            true,
            Warning,
        ),
        (
            "many wait for a retry",
            with(|fact| fact.failed = 1_001),
            vec![("retry_depth", Failing)],
            true,
            Failing,
        ),
        (
            "too much fails",
            with(|fact| fact.unsuccessful = 6.0),
            vec![("success_rate", Failing)],
            true,
            Failing,
        ),
        ("a little fails", with(|fact| fact.unsuccessful = 5.0), vec![], true, Fine),
        ("nothing is tried", with(|fact| fact.delivered = 0.0), vec![("success_rate", Unknown)], true, Fine),
        (
            "many die",
            with(|fact| fact.died_last_hour = 11),
            vec![("dead_letter_growth", Failing)],
            true,
            Failing,
        ),
        (
            "events are orphaned",
            Facts { orphaned: Some(1), ..healthy() },
            vec![("orphaned_events", Failing)],
            true,
            Failing,
        ),
        (
            "tables are damaged",
            Facts { damage: Some("lane 3 has no line".to_owned()), ..healthy() },
            vec![("journal", Failing)],
            true,
            Failing,
        ),
    ] {
        assert_eq!(judge(&facts), (bad, ready, whole), "{what}");
    }
}

#[test]
fn every_check_of_the_seed_is_there_with_figures_and_limits() {
    let checks = checks(&healthy(), &Limits::default());
    let names: Vec<&str> = checks.iter().map(|check| check.name).collect();
    assert_eq!(
        names,
        [
            "publisher",
            "lease",
            "database",
            "sink",
            "progress",
            "lag",
            "retry_depth",
            "success_rate",
            "dead_letter_growth",
            "orphaned_events",
            "journal"
        ]
    );
    for name in ["progress", "lag", "retry_depth", "success_rate", "dead_letter_growth", "orphaned_events"] {
        let check = checks.iter().find(|check| check.name == name).unwrap();
        assert!(check.value.is_some() && check.limit.is_some(), "{check:?}");
    }
    assert!(READINESS.iter().all(|name| names.contains(name)));
}
