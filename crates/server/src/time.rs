//! Times as callers see them: RFC 3339, in UTC.

use std::time::SystemTime;

use posthaste::Timestamp;

/// The first moment that has five digits in its year, and so no text.
const YEAR_10000: i64 = 253_402_300_800_000_000;

/// The time as text. What an event brings along may be any number, so that what has no text is cut to what has.
#[must_use]
pub fn text(time: Timestamp) -> String {
    let time = Timestamp(time.0.clamp(0, YEAR_10000 - 1));
    humantime::format_rfc3339_micros(SystemTime::from(time)).to_string()
}

/// The time that a text says, in UTC; none if it is no time, or one in another zone.
#[must_use]
pub fn parse(text: &str) -> Option<Timestamp> {
    // The parser takes other zones behind a fraction for UTC, and anything short behind a Z, so that it gets to see neither.
    let bare = text.strip_suffix('Z').or_else(|| text.strip_suffix("+00:00")).unwrap_or(text);
    if bare.contains(['Z', '+']) {
        return None;
    }
    humantime::parse_rfc3339_weak(bare).ok().map(Timestamp::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_has_a_text() {
        assert_eq!(text(Timestamp(1_772_366_400_000_001)), "2026-03-01T12:00:00.000001Z");
        assert_eq!(text(Timestamp(-5)), "1970-01-01T00:00:00.000000Z");
        assert_eq!(text(Timestamp(i64::MIN)), "1970-01-01T00:00:00.000000Z");
        assert_eq!(text(Timestamp(i64::MAX)), "9999-12-31T23:59:59.999999Z");
    }

    #[test]
    fn texts_are_read_as_they_are_written() {
        let time = Timestamp(1_772_366_400_000_001);
        assert_eq!(parse(&text(time)), Some(time));
        for noon in ["2026-03-01 12:00:00", "2026-03-01T12:00:00.0Z", "2026-03-01T12:00:00.000+00:00"] {
            assert_eq!(parse(noon), Some(Timestamp(1_772_366_400_000_000)), "{noon}");
        }
        for bad in ["", "yesterday", "2026-13-01T00:00:00Z", "2026-03-01", "1772366400"] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn another_zone_is_not_taken_for_utc() {
        for end in ["+01:00", "-01:00", ".5+01:00", ".5-01:00", "Z*", "Z+01", "ZZ", ".5ZZ", "Z+00:00"] {
            let bad = format!("2026-03-01T12:00:00{end}");
            assert_eq!(parse(&bad), None, "{bad}");
        }
    }
}
