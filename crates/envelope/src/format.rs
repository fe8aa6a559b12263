//! The formats by name.

use std::{fmt, str::FromStr};

use posthaste_core::{Error, Result};

/// What a message looks like; the [crate] has the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// The payload, with the facts a consumer needs added to it; those that others filter by are headers.
    #[default]
    Posthaste,
    /// A CloudEvent 1.0 in JSON, whole in the value.
    CloudEventsStructured,
    /// A CloudEvent 1.0 whose attributes are headers and whose data is the value.
    CloudEventsBinary,
    /// The payload and the event's own headers, and nothing else.
    Raw,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 4] =
        [Format::Posthaste, Format::CloudEventsStructured, Format::CloudEventsBinary, Format::Raw];

    /// The format as it is written in a configuration.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Format::Posthaste => "posthaste",
            Format::CloudEventsStructured => "cloudevents",
            Format::CloudEventsBinary => "cloudevents_binary",
            Format::Raw => "raw",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Format {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|format| format.as_str() == text).ok_or_else(|| {
            let allowed = Self::ALL.map(Self::as_str).join(", ");
            Error::invalid(format!("{text:?} is no format; allowed are {allowed}"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_read_by_the_names_they_are_written_with() {
        for format in Format::ALL {
            assert_eq!(format.to_string().parse::<Format>().unwrap(), format);
        }
        let error = "avro".parse::<Format>().unwrap_err().to_string();
        assert!(error.contains("avro") && error.contains("posthaste, cloudevents"), "{error}");
    }
}
