//! One error for the whole library: a kind that says what the caller can do, the operation that failed, the cause.

use std::{borrow::Cow, error::Error as StdError, fmt};

/// What comes back when something could not be done.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What the caller can do about an [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The database does not answer, is locked or full. Wait and try again.
    Unavailable,
    /// The tables are missing, of another version, or laid out differently. Migrate, or use the right program.
    Schema,
    /// The input breaks a rule. Change the input.
    Invalid,
    /// There is nothing under that name or id.
    NotFound,
    /// It cannot be done in the present state; the message says what to do first.
    Refused,
    /// A bug, or a database that does not behave as one.
    Unexpected,
}

/// An error with its kind, what was being done, and its cause as [`source`](StdError::source).
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    message: Cow<'static, str>,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

impl Error {
    /// An error of this kind; the message is lower case and names the operation or the rule.
    pub fn new(kind: ErrorKind, message: impl Into<Cow<'static, str>>) -> Self {
        Self { kind, message: message.into(), source: None }
    }

    /// The input breaks a rule; the message says which and what is allowed.
    pub fn invalid(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Invalid, message)
    }

    /// Keeps the cause.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// What the caller can do about it.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The message with all its causes, in one line, for logs and people.
    #[must_use]
    pub fn chain(&self) -> String {
        let mut text = self.to_string();
        let mut cause = self.source();
        while let Some(error) = cause {
            text.push_str(": ");
            text.push_str(&error.to_string());
            cause = error.source();
        }
        text
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}
