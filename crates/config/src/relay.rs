//! `relay` and `retention`: how the engine works, and what it keeps.

use std::time::Duration;

use posthaste::{Limit, Retention, Settings};

use crate::{
    kind::{self, write_time},
    section::Section,
};

const MILLISECOND: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_secs(60 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;
const GIB: usize = 1 << 30;

/// What `relay` says.
pub(crate) struct Relay {
    pub(crate) settings: Settings,
    pub(crate) payload_limit: usize,
}

/// Reads `relay`. What concerns publishing in the same process is deliberately absent: nobody does, in a program of its own.
pub(crate) fn read(section: Section<'_>) -> Relay {
    let usual = Settings::default();
    let settings = Settings {
        lease: section.or("lease", &kind::time(500 * MILLISECOND..=HOUR), usual.lease),
        batch: section.or("batch", &kind::number(1..=100_000), usual.batch),
        concurrency: section.or("concurrency", &kind::number(1..=64), usual.concurrency),
        settle_interval: section.or(
            "settle_interval",
            &kind::time(Duration::ZERO..=HOUR),
            usual.settle_interval,
        ),
        poll_min: section.or("poll_min", &kind::time(MILLISECOND..=10 * SECOND), usual.poll_min),
        poll_max: section.or("poll_max", &kind::time(MILLISECOND..=10 * SECOND), usual.poll_max),
        move_interval: section.or("move_interval", &kind::time(100 * MILLISECOND..=DAY), usual.move_interval),
        grace: section.or("grace", &kind::time(Duration::ZERO..=HOUR), usual.grace),
        prune_interval: section.or("prune_interval", &kind::time(SECOND..=DAY), usual.prune_interval),
        page: limit(section.section("page"), usual.page),
        buffer: limit(section.section("buffer"), usual.buffer),
        ..usual
    };
    let payload_limit = section.or("payload_limit", &kind::size(KIB..=GIB), MIB);
    agree(&section, &settings);
    section.end();
    Relay { settings, payload_limit }
}

fn limit(section: Section<'_>, usual: Limit) -> Limit {
    let entries = section.or("entries", &kind::number(1..=1_000_000), usual.entries);
    let bytes = section.or("bytes", &kind::size(KIB..=GIB), usual.bytes);
    section.end();
    Limit { entries, bytes }
}

/// What each value allows by itself may still not fit together.
fn agree(section: &Section<'_>, settings: &Settings) {
    if settings.poll_min > settings.poll_max {
        let (low, high) = (write_time(settings.poll_min), write_time(settings.poll_max));
        section.problem("poll_min", format!("is {low}, and poll_max is {high}; poll_min may not be longer"));
    }
    if settings.settle_interval > settings.lease / 2 {
        let (interval, lease) = (write_time(settings.settle_interval), write_time(settings.lease));
        let text = format!("is {interval}, and lease is {lease}; allowed is at most half the lease");
        section.problem("settle_interval", text);
    }
    if settings.buffer.entries < settings.page.entries || settings.buffer.bytes < settings.page.bytes {
        section.problem("buffer", "is smaller than page; allowed is at least as many entries and bytes");
    }
    if section.is_fine()
        && let Err(error) = settings.validate()
    {
        section.problem_itself(format!("is not allowed: {error}"));
    }
}

/// Reads `retention`.
pub(crate) fn read_retention(section: Section<'_>) -> Retention {
    let usual = Retention::default();
    let time = kind::time(Duration::ZERO..=36_500 * DAY);
    let retention = Retention {
        events: section.or("events", &time, usual.events),
        lines: section.or("lines", &time, usual.lines),
        journal: section.or("journal", &time, usual.journal),
        dead: section.or("dead", &time, usual.dead),
        step: section.or("step", &kind::number(1..=100_000), usual.step),
    };
    section.end();
    retention
}
