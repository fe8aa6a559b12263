//! `retry`: how failed events are tried again, for all subscriptions or for one.

use std::time::Duration;

use posthaste::RetryPolicy;

use crate::{
    kind::{self, Kind, write_time},
    section::Section,
};

const MILLISECOND: Duration = Duration::from_millis(1);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Where what is not written comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// From the program.
    Program,
    /// From `retry` of the whole file.
    File,
}

/// Reads a policy. What is not written is as in the usual one.
pub(crate) fn read(section: Section<'_>, usual: &RetryPolicy, origin: Origin) -> RetryPolicy {
    let policy = RetryPolicy {
        max_attempts: value(
            &section,
            "max_attempts",
            &kind::number(1..=1_000_000),
            usual.max_attempts,
            origin,
        ),
        base: value(&section, "base", &kind::time(MILLISECOND..=DAY), usual.base, origin),
        multiplier: value(&section, "multiplier", &kind::fraction(1.0..=100.0), usual.multiplier, origin),
        max: value(&section, "max", &kind::time(MILLISECOND..=30 * DAY), usual.max, origin),
        jitter: jitter(&section, usual.jitter, origin),
    };
    agree(&section, &policy);
    // What inherits it must not be blamed for it.
    let policy = if section.is_fine() { policy } else { usual.clone() };
    section.end();
    policy
}

fn value<T>(section: &Section<'_>, key: &'static str, kind: &Kind<T>, usual: T, origin: Origin) -> T {
    match origin {
        Origin::Program => section.or(key, kind, usual),
        Origin::File => section.or_as(key, kind, usual, format!("as retry.{key}")),
    }
}

/// Two numbers, between which each wait is multiplied.
fn jitter(section: &Section<'_>, usual: (f64, f64), origin: Origin) -> (f64, f64) {
    let told = match origin {
        Origin::Program => format!("[{:?}, {:?}]", usual.0, usual.1),
        Origin::File => "as retry.jitter".to_owned(),
    };
    let pair = section.list_or_as("jitter", &kind::fraction(0.0..=10.0), vec![usual.0, usual.1], told);
    let (low, high) = match pair[..] {
        [low, high] => (low, high),
        _ => {
            if section.is_fine() {
                section.problem("jitter", "is no pair; allowed are two numbers such as [0.75, 1.25]");
            }
            usual
        }
    };
    if low > high {
        section.problem(
            "jitter",
            format!("is [{low:?}, {high:?}]; the first may not be larger than the second"),
        );
    }
    (low, high)
}

fn agree(section: &Section<'_>, policy: &RetryPolicy) {
    if policy.base > policy.max {
        let (base, max) = (write_time(policy.base), write_time(policy.max));
        section.problem("base", format!("is {base}, and max is {max}; base may not be longer"));
    }
    if section.is_fine()
        && let Err(error) = policy.validate()
    {
        section.problem_itself(format!("is not allowed: {error}"));
    }
}
