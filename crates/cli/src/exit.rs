//! Exit codes, for those who supervise the program: what helps, to start it again or to change something.

use std::fmt;

use posthaste::ErrorKind;

/// It failed. Starting it again may help.
pub(crate) const FAILED: u8 = 1;
/// The command line or a configuration was not understood.
pub(crate) const NOT_UNDERSTOOD: u8 = 2;
/// What was asked for is refused, and neither waiting nor starting again helps.
pub(crate) const REFUSED: u8 = 3;

/// An error with an exit code of its own.
#[derive(Debug)]
pub(crate) struct Coded {
    code: u8,
    error: anyhow::Error,
}

impl Coded {
    pub(crate) fn new(code: u8, error: impl Into<anyhow::Error>) -> Self {
        Self { code, error: error.into() }
    }

    /// The present state does not allow it.
    pub(crate) fn refused(text: impl Into<String>) -> anyhow::Error {
        Self::new(REFUSED, anyhow::Error::msg(text.into())).into()
    }

    /// What was written on the command line, or in a file, cannot be understood.
    pub(crate) fn not_understood(text: impl Into<String>) -> anyhow::Error {
        Self::new(NOT_UNDERSTOOD, anyhow::Error::msg(text.into())).into()
    }
}

/// What a log answers an operator: input that breaks a rule was not understood, and what the present state does not allow is refused.
pub(crate) fn judged(error: posthaste::Error) -> anyhow::Error {
    match error.kind() {
        ErrorKind::Invalid => Coded::new(NOT_UNDERSTOOD, error).into(),
        ErrorKind::Refused => Coded::new(REFUSED, error).into(),
        _ => error.into(),
    }
}

/// The exit code of an error.
pub(crate) fn code_of(error: &anyhow::Error) -> u8 {
    error.downcast_ref::<Coded>().map_or(FAILED, |coded| coded.code)
}

impl fmt::Display for Coded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl std::error::Error for Coded {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.error.source()
    }
}
