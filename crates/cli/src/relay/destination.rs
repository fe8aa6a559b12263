//! Where a relay delivers to, as it is written on the command line.

use std::{fmt, path::PathBuf, str::FromStr};

use posthaste::{FileSink, Result};

/// The destinations that need nothing but this program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Destination {
    Stdout,
    File(PathBuf),
}

impl Destination {
    pub(crate) fn open(&self) -> Result<FileSink> {
        match self {
            Destination::Stdout => Ok(FileSink::stdout()),
            Destination::File(path) => FileSink::create(path),
        }
    }
}

impl FromStr for Destination {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            None if text == "stdout" => Ok(Destination::Stdout),
            Some(("file", "")) => Err("the path is missing; write file:events.jsonl".to_owned()),
            Some(("file", path)) => Ok(Destination::File(path.into())),
            _ => Err("no such sink; write stdout, or file:PATH such as file:events.jsonl".to_owned()),
        }
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Destination::Stdout => f.write_str("stdout"),
            Destination::File(path) => write!(f, "file:{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_writes_and_says_what_to_write_instead() {
        for good in ["stdout", "file:events.jsonl", "file:/tmp/a:b"] {
            assert_eq!(good.parse::<Destination>().unwrap().to_string(), good);
        }
        for bad in ["", "kafka://localhost", "stdout:", "file:", "events.jsonl"] {
            assert!(bad.parse::<Destination>().unwrap_err().contains("write "), "{bad}");
        }
    }
}
