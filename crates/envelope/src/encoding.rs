//! Texts that JSON and headers need: base 64, times, ids and numbers.

use std::fmt;

use posthaste_core::{EventId, Timestamp};
use uuid::{Uuid, fmt::Hyphenated};

/// A time that can be written by RFC 3339.
pub(crate) struct Rfc3339(humantime::Rfc3339Timestamp);

impl Rfc3339 {
    pub(crate) fn new(time: Timestamp) -> Option<Self> {
        const YEAR_10000: i64 = 253_402_300_800_000_000;
        (0..YEAR_10000).contains(&time.0).then(|| Self(humantime::format_rfc3339_micros(time.into())))
    }
}

impl fmt::Display for Rfc3339 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// An id as text, without an allocation.
pub(crate) struct IdText([u8; Hyphenated::LENGTH]);

impl IdText {
    pub(crate) fn new(id: EventId) -> Self {
        let mut text = [0; Hyphenated::LENGTH];
        Uuid::from(id).hyphenated().encode_lower(&mut text);
        Self(text)
    }

    pub(crate) fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

/// A number as text, without an allocation.
pub(crate) struct NumberText {
    text: [u8; Self::LENGTH],
    start: usize,
}

impl NumberText {
    /// As long as the longest number with its sign.
    const LENGTH: usize = 20;

    pub(crate) fn new(number: i64) -> Self {
        let mut text = [0; Self::LENGTH];
        let mut start = Self::LENGTH;
        let mut rest = number.unsigned_abs();
        loop {
            start -= 1;
            // A digit, so that nothing is cut off.
            text[start] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        if number < 0 {
            start -= 1;
            text[start] = b'-';
        }
        Self { text, start }
    }

    pub(crate) fn as_str(&self) -> &str {
        std::str::from_utf8(&self.text[self.start..]).unwrap_or_default()
    }
}

pub(crate) fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let word =
            chunk.iter().fold(0, |word, byte| word << 8 | usize::from(*byte)) << (8 * (3 - chunk.len()));
        for digit in 0..4 {
            let known = digit <= chunk.len();
            text.push(if known { ALPHABET[word >> (18 - 6 * digit) & 63].into() } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_pads_what_is_missing() {
        let cases = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("\u{ff}>?", "w78+Pw=="),
        ];
        for (bytes, expected) in cases {
            assert_eq!(base64(bytes.as_bytes()), expected);
        }
    }

    #[test]
    fn only_times_that_can_be_written_are() {
        let write = |micros| Rfc3339::new(Timestamp(micros)).map(|time| time.to_string());

        assert_eq!(write(1_700_000_000_123_456).as_deref(), Some("2023-11-14T22:13:20.123456Z"));
        assert_eq!(write(253_402_300_799_999_999).as_deref(), Some("9999-12-31T23:59:59.999999Z"));
        for outside in [-1, 253_402_300_800_000_000, i64::MIN, i64::MAX] {
            assert_eq!(write(outside), None);
        }
    }

    #[test]
    fn ids_and_numbers_are_written_as_they_are_shown() {
        for number in [0, 7, -7, 10, 1_234_567_890, i64::MAX, i64::MIN] {
            assert_eq!(NumberText::new(number).as_str(), number.to_string());
        }
        let id = EventId::from_bytes([0xab; 16]);
        assert_eq!(IdText::new(id).as_str(), id.to_string());
    }
}
