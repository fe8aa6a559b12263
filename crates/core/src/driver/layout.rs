//! What the tables of a log say of themselves, and whether a program can use them.

use std::collections::HashMap;

use crate::{Error, ErrorKind, MAX_LANES, Result};

/// What a database has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// How many migrations were applied.
    pub version: i64,
    /// The number of lanes, which never changes.
    pub lanes: u8,
}

impl Layout {
    /// As the table of names and values says it.
    pub fn of(meta: &HashMap<String, String>) -> Result<Self> {
        let number = |name: &str| -> Result<i64> {
            let value = meta.get(name).and_then(|value| value.parse().ok());
            value.ok_or_else(|| {
                unusable(format!("the layout says no number for {name}; the tables are damaged"))
            })
        };
        let lanes = u8::try_from(number("lanes")?).ok().filter(|lanes| (1..=MAX_LANES).contains(lanes));
        let lanes = lanes.ok_or_else(|| unusable("the stored number of lanes is not 1 to 64"))?;
        Ok(Self { version: number("schema_version")?, lanes })
    }

    /// Whether a program that knows this version has migrations that are missing here.
    #[must_use]
    pub fn is_older_than(self, known: i64) -> bool {
        self.version < known
    }

    /// Says what has to happen before these tables can be used by a program that knows this version, with so many lanes if it says
    /// how many.
    pub fn check(self, known: i64, lanes: Option<u8>) -> Result<Self> {
        let version = self.version;
        if version > known {
            return Err(unusable(format!(
                "the tables have schema version {version}, and this program knows {known}; use a newer program"
            )));
        }
        if self.is_older_than(known) {
            return Err(unusable(format!(
                "the tables have schema version {version}, and this program needs {known}; run `posthaste migrate`"
            )));
        }
        match lanes {
            Some(lanes) if lanes != self.lanes => Err(unusable(format!(
                "the log was created with {} lanes, and {lanes} are configured; the number cannot change, because it \
                 decides where each key is",
                self.lanes
            ))),
            _ => Ok(self),
        }
    }
}

/// The tables are not what this program can use.
pub fn unusable(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Schema, message.into())
}
