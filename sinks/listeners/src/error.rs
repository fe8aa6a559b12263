//! What a listener returns when it fails. Any error is transient; the rest is said by name.

use std::{error::Error as StdError, fmt, time::Duration};

use posthaste_core::Fault;

/// Why a listener failed.
///
/// Every error turns into one by `?`, and then means "try again". A [`Fault`] keeps its kind on the way, also
/// as a cause of another error. (Only an `anyhow::Error` made of a bare [`Fault`] hides it: return a `ListenerError`
/// there, or give it some context.)
///
/// Like `anyhow::Error` it is no [`std::error::Error`] itself, because then it could not be made from any of them.
pub struct ListenerError(Fault);

impl ListenerError {
    /// This event will never succeed: it is a dead letter now.
    pub fn permanent(message: impl Into<String>) -> Self {
        Self(Fault::permanent(message))
    }

    /// This event failed this time. The same as returning any other error.
    pub fn transient(message: impl Into<String>) -> Self {
        Self(Fault::transient(message))
    }

    /// What the listener needs is down: the subscription waits, and no attempt counts.
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self(Fault::unavailable(message))
    }

    /// What the listener needs asks to wait this long: the subscription waits, and no attempt counts.
    pub fn throttled(retry_after: Duration, message: impl Into<String>) -> Self {
        Self(Fault::throttled(retry_after, message))
    }

    /// The fault that the relay is told.
    #[must_use]
    pub fn into_fault(self) -> Fault {
        self.0
    }
}

impl<E: Into<Box<dyn StdError + Send + Sync>>> From<E> for ListenerError {
    fn from(error: E) -> Self {
        let error: Box<dyn StdError + Send + Sync> = error.into();
        let message = chain(&*error);
        match find_fault(&*error) {
            Some(fault) => Self(Fault { message, ..fault.clone() }),
            None => Self(Fault::transient(message)),
        }
    }
}

impl fmt::Debug for ListenerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for ListenerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The message with all its causes in one line. A cause that the message before it already ends with is left out:
/// many errors paste their cause into their own text.
fn chain(error: &(dyn StdError + 'static)) -> String {
    let mut text = error.to_string();
    for cause in causes(error).skip(1).map(|cause| cause.to_string()) {
        if !text.ends_with(&cause) {
            text.push_str(": ");
            text.push_str(&cause);
        }
    }
    text
}

fn find_fault<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a Fault> {
    causes(error).find_map(|cause| cause.downcast_ref())
}

fn causes<'a>(
    error: &'a (dyn StdError + 'static),
) -> impl Iterator<Item = &'a (dyn StdError + 'static)> + use<'a> {
    std::iter::successors(Some(error), |&error| error.source())
}

#[cfg(test)]
mod tests {
    use std::io;

    use posthaste_core::{Error, FaultKind};

    use super::*;

    fn fault(error: impl Into<ListenerError>) -> Fault {
        error.into().into_fault()
    }

    #[test]
    fn any_error_is_transient() {
        let boxed: Box<dyn StdError + Send + Sync> = "boxed".into();

        assert_eq!(fault(io::Error::other("disk")), Fault::transient("disk"));
        assert_eq!(fault("text"), Fault::transient("text"));
        assert_eq!(fault(boxed), Fault::transient("boxed"));
        assert_eq!(fault(anyhow::anyhow!("any")), Fault::transient("any"));
    }

    #[test]
    fn causes_are_told_once() {
        let error = Error::invalid("reading the order").with_source(io::Error::other("disk"));
        assert_eq!(fault(error).message, "reading the order: disk");

        let pasted = Error::invalid("reading the order: disk").with_source(io::Error::other("disk"));
        assert_eq!(fault(pasted).message, "reading the order: disk");
    }

    #[test]
    fn a_fault_keeps_its_kind_also_as_a_cause() {
        assert_eq!(fault(Fault::permanent("refused")), Fault::permanent("refused"));

        let wrapped = anyhow::Error::new(Fault::unavailable("down")).context("asking the bank");
        assert_eq!(fault(wrapped), Fault::unavailable("asking the bank: down"));
    }

    #[test]
    fn the_rest_is_said_by_name() {
        let wait = Duration::from_secs(3);
        let cases = [
            (ListenerError::permanent("x"), FaultKind::Permanent),
            (ListenerError::transient("x"), FaultKind::Transient),
            (ListenerError::unavailable("x"), FaultKind::Unavailable),
            (ListenerError::throttled(wait, "x"), FaultKind::Throttled { retry_after: wait }),
        ];
        for (error, kind) in cases {
            assert_eq!(error.into_fault().kind, kind);
        }
    }
}
