//! Times for people: how long ago, and when exactly; and the times that people write.

use std::time::Duration;

use posthaste::{Clock, SystemClock, Timestamp};
use posthaste_server::time::parse;

/// The time as programs read it.
pub(crate) use posthaste_server::time::text as stamp;

/// The time and how long ago that is: `2026-03-01 12:00:00 UTC (3m ago)`.
pub(crate) fn moment(time: Timestamp, now: Timestamp) -> String {
    let text = stamp(time);
    format!("{} {} UTC ({})", &text[..10], &text[11..19], ago(time, now))
}

/// How long ago, or in how long: `3m 5s ago`, `in 2h`.
pub(crate) fn ago(time: Timestamp, now: Timestamp) -> String {
    if time > now {
        return format!("in {}", age(time.since(now).as_secs_f64()));
    }
    match now.since(time) {
        span if span < Duration::from_secs(1) => "just now".to_owned(),
        span => format!("{} ago", age(span.as_secs_f64())),
    }
}

/// An age with its two largest units, as short as it can be: `850ms`, `12s`, `4m 3s`, `2d 5h`.
pub(crate) fn age(seconds: f64) -> String {
    let age = Duration::try_from_secs_f64(seconds).unwrap_or_default();
    if age < Duration::from_secs(1) {
        return format!("{}ms", age.as_millis());
    }
    let whole = age.as_secs();
    let parts = [(whole / 86_400, "d"), (whole / 3_600 % 24, "h"), (whole / 60 % 60, "m"), (whole % 60, "s")];
    let first = parts.iter().position(|(number, _)| *number > 0).unwrap_or(parts.len() - 1);
    let shown = parts[first..].iter().take(2).filter(|(number, _)| *number > 0);
    shown.map(|(number, unit)| format!("{number}{unit}")).collect::<Vec<_>>().join(" ")
}

/// Reads a time from the command line: a point in UTC, a day, or how long ago.
pub(crate) fn parse_time(text: &str) -> Result<Timestamp, String> {
    read(text.trim(), SystemClock.now()).ok_or_else(|| {
        "write a time in UTC such as 2026-03-01T12:00:00Z or 2026-03-01, or how long ago, such as 90m, 2h or 7d"
            .to_owned()
    })
}

fn read(text: &str, now: Timestamp) -> Option<Timestamp> {
    let span = || humantime::parse_duration(text.strip_suffix("ago").unwrap_or(text).trim_end()).ok();
    match text {
        "now" => Some(now),
        _ => parse(text)
            .or_else(|| parse(&format!("{text}:00")))
            .or_else(|| parse(&format!("{text} 00:00:00")))
            .or_else(|| span().map(|span| now.before(span))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: Timestamp = Timestamp(1_772_366_400_000_000);

    #[test]
    fn ages_are_short() {
        for (seconds, text) in [
            (0.02, "20ms"),
            (12.3, "12s"),
            (60.0, "1m"),
            (243.0, "4m 3s"),
            (3_605.0, "1h"),
            (190_000.0, "2d 4h"),
        ] {
            assert_eq!(age(seconds), text);
        }
    }

    #[test]
    fn a_time_is_told_in_both_ways() {
        let later = NOON + Duration::from_secs(185);
        assert_eq!(moment(NOON, later), "2026-03-01 12:00:00 UTC (3m 5s ago)");
        assert_eq!((ago(later, NOON).as_str(), ago(NOON, NOON).as_str()), ("in 3m 5s", "just now"));
        assert_eq!(stamp(Timestamp(i64::MIN)), "1970-01-01T00:00:00.000000Z");
    }

    #[test]
    fn times_are_read_as_people_write_them() {
        for text in ["2026-03-01T12:00:00Z", "2026-03-01 12:00:00", "2026-03-01 12:00", "now", "0s"] {
            assert_eq!(read(text, NOON), Some(NOON), "{text}");
        }
        assert_eq!(read("2026-03-01", NOON), Some(NOON.before(Duration::from_secs(12 * 3_600))));
        for text in ["90m", "1h 30m", "90m ago"] {
            assert_eq!(read(text, NOON), Some(NOON.before(Duration::from_secs(5_400))), "{text}");
        }
        for bad in
            ["", "yesterday", "2026-13-01", "12:00", "-5m", "1772366400", "2026-03-01T12:00:00.5+01:00"]
        {
            assert_eq!(read(bad, NOON), None, "{bad}");
        }
    }
}
