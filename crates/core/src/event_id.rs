//! The 128-bit id of an event: what consumers use to recognise a repeat.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use uuid::Uuid;

use crate::{Error, Result};

/// Identifies an event, everywhere and for ever. Shown as a UUID; read from UUID or ULID text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId(Uuid);

impl EventId {
    /// The id with these bytes.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(Uuid::from_bytes(bytes))
    }

    /// The id as 16 bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 16] {
        self.0.as_bytes()
    }
}

impl From<Uuid> for EventId {
    fn from(uuid: Uuid) -> Self {
        Self(uuid)
    }
}

impl From<EventId> for Uuid {
    fn from(id: EventId) -> Self {
        id.0
    }
}

impl FromStr for EventId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let id = if text.len() == ULID_CHARS { parse_ulid(text) } else { Uuid::try_parse(text).ok() };
        id.map(Self).ok_or_else(|| {
            Error::invalid(format!(
                "event id {text:?} is neither a UUID (36 or 32 hexadecimal digits) nor a ULID (26 characters)"
            ))
        })
    }
}

const ULID_CHARS: usize = 26;

/// Crockford's base 32, as ULIDs are written: the most significant digit carries only three bits.
fn parse_ulid(text: &str) -> Option<Uuid> {
    const DIGITS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    let mut value: u128 = 0;
    for (index, byte) in text.bytes().enumerate() {
        let digit = DIGITS.iter().position(|digit| *digit == byte.to_ascii_uppercase())?;
        if index == 0 && digit > 7 {
            return None;
        }
        value = value << 5 | digit as u128;
    }
    Some(Uuid::from_u128(value))
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for EventId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for EventId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_uuid_and_ulid_text_and_refuses_the_rest() {
        let uuid: EventId = "0190163d-8694-739b-aea5-966c26f8ad91".parse().unwrap();
        let ulid: EventId = "01J0B3V1MMEEDTX9CPDGKFHBCH".parse().unwrap();

        assert_eq!(uuid.to_string(), "0190163d-8694-739b-aea5-966c26f8ad91");
        assert_eq!(ulid, uuid, "a ULID is the same 128 bits written differently");
        for bad in [
            "",
            "42",
            "81J0B3V1MMEEDTX9CPDGKFHBCH",
            "01J0B3V1MMEEDTX9CPDGKFHBCU",
            "not-a-uuid-at-all-not-a-uuid-at-all-x",
        ] {
            let error = bad.parse::<EventId>().unwrap_err();
            assert!(error.to_string().contains("UUID"), "{error}");
        }
    }
}
