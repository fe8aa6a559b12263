//! What PostgreSQL says, as what the caller can do about it.

use std::io;

use posthaste_core::{Error, ErrorKind};

const NO_SECURE_CONNECTION: (ErrorKind, Option<&str>) =
    (ErrorKind::Refused, Some("no secure connection; check sslmode and the certificates"));

/// The error of an operation that failed, with PostgreSQL's own words as its cause.
pub(crate) fn failed(operation: &'static str) -> impl Fn(sqlx::Error) -> Error {
    move |error| {
        let (kind, advice) = explain(&error);
        let message = match advice {
            Some(advice) => format!("{operation}: {advice}").into(),
            None => std::borrow::Cow::Borrowed(operation),
        };
        Error::new(kind, message).with_source(error)
    }
}

fn explain(error: &sqlx::Error) -> (ErrorKind, Option<&'static str>) {
    match error {
        sqlx::Error::Database(database) => explain_code(&database.code().unwrap_or_default()),
        // That is how a certificate comes that nobody vouches for: the handshake is done while reading.
        sqlx::Error::Io(error) if error.kind() == io::ErrorKind::InvalidData => NO_SECURE_CONNECTION,
        sqlx::Error::Io(_) => {
            (ErrorKind::Unavailable, Some("the database cannot be reached; check host, port and network"))
        }
        sqlx::Error::PoolTimedOut | sqlx::Error::PoolClosed | sqlx::Error::Protocol(_) => {
            (ErrorKind::Unavailable, None)
        }
        sqlx::Error::Tls(_) => NO_SECURE_CONNECTION,
        sqlx::Error::Configuration(_) => (ErrorKind::Invalid, None),
        _ => (ErrorKind::Unexpected, None),
    }
}

/// By SQLSTATE, most special first (<https://www.postgresql.org/docs/current/errcodes-appendix.html>).
pub(crate) fn explain_code(code: &str) -> (ErrorKind, Option<&'static str>) {
    match code {
        "28000" | "28P01" => {
            (ErrorKind::Refused, Some("the database refuses this user; check user, password and pg_hba.conf"))
        }
        "3D000" => (ErrorKind::Refused, Some("there is no such database; create it or check the address")),
        "42501" => (
            ErrorKind::Refused,
            Some("a right is missing; grant the role what docs/postgres.md lists for it"),
        ),
        "42P01" | "42703" | "42883" | "3F000" => (
            ErrorKind::Schema,
            Some(
                "the tables are missing, elsewhere or of another version; run `posthaste migrate`, or check schema and prefix",
            ),
        ),
        "25006" => (
            ErrorKind::Unavailable,
            Some("the server is read-only, a standby perhaps; connect to the primary (target_session_attrs)"),
        ),
        "53300" => (ErrorKind::Unavailable, Some("the server has no connection left; raise max_connections")),
        "53100" => (ErrorKind::Unavailable, Some("the server's disk is full")),
        "40001" | "40P01" | "55P03" | "57014" => (ErrorKind::Unavailable, None),
        // Connections, resources, operators and the system: waiting helps.
        code if ["08", "53", "57", "58"].iter().any(|class| code.starts_with(class)) => {
            (ErrorKind::Unavailable, None)
        }
        _ => (ErrorKind::Unexpected, None),
    }
}

/// A value in a table that no version of this program writes.
pub(crate) fn damaged(what: &'static str) -> Error {
    Error::new(ErrorKind::Schema, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_helps_against_a_dead_line_but_not_against_a_bad_certificate() {
        let cases = [
            (io::ErrorKind::ConnectionRefused, ErrorKind::Unavailable, "check host, port and network"),
            (io::ErrorKind::UnexpectedEof, ErrorKind::Unavailable, "check host, port and network"),
            (io::ErrorKind::InvalidData, ErrorKind::Refused, "check sslmode and the certificates"),
        ];
        for (cause, kind, advice) in cases {
            let error = failed("cannot connect")(sqlx::Error::Io(cause.into()));

            assert_eq!(error.kind(), kind, "{cause}");
            assert!(error.to_string().contains(advice), "{error}");
        }
    }
}
