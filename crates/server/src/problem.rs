//! What is answered instead of what was asked for: problem details (RFC 9457), always as JSON, never with a stack or a statement.

use std::time::Duration;

use axum::{
    http::{
        HeaderName, HeaderValue, StatusCode,
        header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE},
    },
    response::{IntoResponse, Response},
};
use posthaste::ErrorKind;
use serde::Serialize;
use utoipa::ToSchema;

/// The media type of a problem.
pub(crate) const MEDIA_TYPE: &str = "application/problem+json";

/// How many fields are told of.
const MOST_ERRORS: usize = 20;

/// Why something was not done.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Problem {
    /// Which kind of problem it is: a URN that stays the same.
    #[serde(rename = "type")]
    #[schema(example = "urn:posthaste:problem:invalid")]
    kind: String,
    /// The kind in a few words.
    #[schema(example = "the request is not understood")]
    title: &'static str,
    /// The status of the answer.
    #[schema(example = 400)]
    status: u16,
    /// What is wrong this time, and what to do.
    detail: String,
    /// Every field that is wrong, up to 20.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<Wrong>,
    #[serde(skip)]
    headers: Vec<(HeaderName, HeaderValue)>,
}

/// A field that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct Wrong {
    /// Its name.
    #[schema(example = "limit")]
    pub(crate) field: String,
    /// What is wrong with it, and what is allowed.
    #[schema(example = "is 100000; allowed is a whole number from 1 to 1000")]
    pub(crate) detail: String,
}

impl Problem {
    fn new(status: StatusCode, (slug, title): (&str, &'static str), detail: impl Into<String>) -> Self {
        Self {
            kind: format!("urn:posthaste:problem:{slug}"),
            title,
            status: status.as_u16(),
            detail: detail.into(),
            errors: Vec::new(),
            headers: Vec::new(),
        }
    }

    /// The request breaks a rule.
    pub(crate) fn invalid(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, ("invalid", "the request is not understood"), detail)
    }

    /// These fields are wrong. The first of them are told: an answer is not to be many times as long as what was asked.
    pub(crate) fn fields(mut errors: Vec<Wrong>) -> Self {
        let more = errors.len().saturating_sub(MOST_ERRORS);
        errors.truncate(MOST_ERRORS);
        let mut list: Vec<String> =
            errors.iter().map(|wrong| format!("{} {}", wrong.field, wrong.detail)).collect();
        list.extend((more > 0).then(|| format!("{more} more are wrong")));
        Self { errors, ..Self::invalid(list.join("; ")) }
    }

    /// Nobody has logged in.
    pub(crate) fn unauthorized(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, ("unauthorized", "a token is needed"), detail)
            .with(WWW_AUTHENTICATE, "Bearer realm=\"posthaste\"")
    }

    /// Too many wrong tokens came from this address.
    pub(crate) fn too_many(wait: Duration) -> Self {
        let detail = "too many wrong tokens from this address; wait and try again";
        Self::new(StatusCode::TOO_MANY_REQUESTS, ("too-many", "too many failed logins"), detail).after(wait)
    }

    /// Who has logged in may not do this.
    pub(crate) fn forbidden(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, ("forbidden", "this is not allowed"), detail)
    }

    /// The request was meant for another host.
    pub(crate) fn misdirected(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::MISDIRECTED_REQUEST, ("misdirected", "this is another host"), detail)
    }

    /// There is nothing there.
    pub(crate) fn not_found(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, ("not-found", "there is nothing there"), detail)
    }

    /// The place is there, and this cannot be done to it.
    pub(crate) fn wrong_method() -> Self {
        let detail = "the document at /api/openapi.json says what can be done here";
        Self::new(StatusCode::METHOD_NOT_ALLOWED, ("wrong-method", "this method is not allowed here"), detail)
    }

    /// It cannot be done in the present state.
    pub(crate) fn refused(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, ("refused", "this cannot be done now"), detail)
    }

    /// The body is larger than allowed.
    pub(crate) fn too_large(limit: usize) -> Self {
        let detail = format!("the body has more than {limit} bytes");
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, ("too-large", "the request is too large"), detail)
    }

    /// The body is not JSON.
    pub(crate) fn wrong_media_type() -> Self {
        let detail = "the body must be JSON, and the header content-type must say application/json";
        let name = ("media-type", "this media type is not understood");
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, name, detail)
    }

    /// It may work later.
    pub(crate) fn unavailable(detail: impl Into<String>, wait: Duration) -> Self {
        let name = ("unavailable", "this cannot be answered at present");
        Self::new(StatusCode::SERVICE_UNAVAILABLE, name, detail).after(wait)
    }

    fn after(self, wait: Duration) -> Self {
        // Rounded up: who comes at the second that was told must not be too early.
        let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
        self.with(RETRY_AFTER, &seconds.max(1).to_string())
    }

    fn with(mut self, name: HeaderName, value: &str) -> Self {
        self.headers.extend(HeaderValue::from_str(value).ok().map(|value| (name, value)));
        self
    }
}

/// How long to wait for a database that does not answer.
const DATABASE_WAIT: Duration = Duration::from_secs(5);

/// What the caller can do about it is what he is told. What only the operators of the database can do about goes to the log.
impl From<posthaste::Error> for Problem {
    fn from(error: posthaste::Error) -> Self {
        match error.kind() {
            ErrorKind::Invalid => Self::invalid(error.to_string()),
            ErrorKind::NotFound => Self::not_found(error.to_string()),
            ErrorKind::Refused => Self::refused(error.to_string()),
            ErrorKind::Unavailable => {
                tracing::warn!(error = error.chain(), "the database does not answer a request");
                Self::unavailable(
                    "the database does not answer; the log of the server says why",
                    DATABASE_WAIT,
                )
            }
            _ => {
                tracing::error!(error = error.chain(), "a request failed");
                let name = ("failed", "this failed");
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, name, "the log of the server says why")
            }
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let body = serde_json::to_string(&self).unwrap_or_default();
        let mut response = (status, [(CONTENT_TYPE, MEDIA_TYPE)], body).into_response();
        for (name, value) in self.headers {
            response.headers_mut().insert(name, value);
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use posthaste::Error;

    use super::*;

    #[test]
    fn what_the_database_says_is_not_told_to_callers() {
        for kind in [ErrorKind::Unavailable, ErrorKind::Schema, ErrorKind::Unexpected] {
            let error = Error::new(kind, "select secret from outbox").with_source("password hunter2");
            let problem = Problem::from(error);
            assert!(problem.status >= 500 && !problem.detail.contains("secret"), "{problem:?}");
        }
        let problem = Problem::from(Error::invalid("the limit is too high"));
        assert_eq!((problem.status, problem.detail.as_str()), (400, "the limit is too high"));
    }

    #[test]
    fn an_answer_does_not_grow_with_what_is_wrong() {
        let wrong = |number| Wrong { field: format!("f{number}"), detail: "is not known".to_owned() };
        let problem = Problem::fields((0..5_000).map(wrong).collect());
        assert_eq!(problem.errors.len(), 20);
        assert!(problem.detail.ends_with("; f19 is not known; 4980 more are wrong"), "{}", problem.detail);
        let problem = Problem::fields((0..20).map(wrong).collect());
        assert!(problem.detail.ends_with("; f19 is not known"), "{}", problem.detail);
    }

    #[test]
    fn a_wait_is_told_in_whole_seconds_and_never_as_none() {
        for (wait, told) in [(0, "1"), (1, "1"), (999, "1"), (1_001, "2"), (60_000, "60")] {
            let problem = Problem::too_many(Duration::from_millis(wait));
            assert_eq!(problem.headers[0].1, told, "{wait} ms");
        }
    }
}
