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
        damage: Some(Vec::new()),
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

/// Asserts which checks are not fine, and what they make of the whole.
fn assert_checks(what: &str, facts: &Facts, bad: &[(&str, State)], ready: bool, whole: State) {
    let checks = checks(facts, &Limits::default());
    let unwell = checks.iter().filter(|check| check.state != State::Fine);
    assert_eq!(unwell.map(|check| (check.name, check.state)).collect::<Vec<_>>(), bad, "{what}");
    assert_eq!((is_ready(&checks), worst(&checks)), (ready, whole), "{what}");
}

fn minutes(minutes: u64) -> Duration {
    Duration::from_secs(60 * minutes)
}

#[test]
fn who_cannot_work_is_not_ready() {
    for (what, facts, check) in [
        ("the relay is gone", relay(|fact| fact.running = false), "publisher"),
        ("the lease is lost", relay(|fact| fact.lease_left = None), "lease"),
        ("the database is down", Facts { database: Some(silent()), ..healthy() }, "database"),
        ("the database hangs", Facts { database: Some(answered(61)), ..healthy() }, "database"),
        ("it stands still", with(|fact| fact.still = minutes(3)), "progress"),
    ] {
        assert_checks(what, &facts, &[(check, State::Failing)], false, State::Failing);
    }
}

#[test]
fn what_another_relay_could_not_do_better_is_said_and_the_relay_is_ready() {
    let sinks = vec![("a".to_owned(), Some(silent()))];
    let damage = Some(vec!["a has lost its lines in the lanes 3".to_owned()]);
    for (what, facts, check) in [
        ("a destination is down", Facts { sinks, ..healthy() }, "sink"),
        ("it lags", with(|fact| fact.lag = minutes(2)), "lag"),
        ("many wait for a retry", with(|fact| fact.failed = 1_001), "retry_depth"),
        ("too much fails", with(|fact| fact.unsuccessful = 6.0), "success_rate"),
        ("many die", with(|fact| fact.died_last_hour = 11), "dead_letter_growth"),
        ("events are orphaned", Facts { orphaned: Some(1), ..healthy() }, "orphaned_events"),
        ("tables are damaged", Facts { damage, ..healthy() }, "journal"),
    ] {
        assert_checks(what, &facts, &[(check, State::Failing)], true, State::Failing);
    }
    let paused = with(|fact| {
        fact.paused = true;
        fact.lag = minutes(9);
        fact.still = minutes(9);
    });
    let warnings = [("progress", State::Warning), ("lag", State::Warning)];
    assert_checks("it is paused and lags", &paused, &warnings, true, State::Warning);
}

#[test]
fn what_is_within_its_limit_or_not_known_yet_is_no_failure() {
    assert_checks("all is well", &healthy(), &[], true, State::Fine);
    assert_checks("it is at the limit", &with(|fact| fact.lag = minutes(1)), &[], true, State::Fine);
    assert_checks("a little fails", &with(|fact| fact.unsuccessful = 5.0), &[], true, State::Fine);
    let unasked = vec![("a".to_owned(), None)];
    for (what, facts, check) in [
        ("no relay is meant to be here", Facts { relay: None, ..healthy() }, "publisher"),
        ("it has just begun", Facts { database: None, ..healthy() }, "database"),
        ("a destination was not asked", Facts { sinks: unasked, ..healthy() }, "sink"),
        ("nothing is tried", with(|fact| fact.delivered = 0.0), "success_rate"),
    ] {
        assert_checks(what, &facts, &[(check, State::Unknown)], true, State::Fine);
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
