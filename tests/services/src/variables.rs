//! The environment variables by which tests find their servers. `CONTRIBUTING.md` lists them.
//!
//! A test must never pass in silence because its server is missing, so a variable that is not set is a panic that
//! says what to do.

use std::{env, path::PathBuf, time::Duration};

/// URL of a PostgreSQL server, as a superuser.
pub const POSTGRES: &str = "POSTHASTE_TEST_POSTGRES";
/// Folder of `initdb`, `pg_ctl` and `psql`, for tests that make a cluster of their own.
pub const POSTGRES_BIN: &str = "POSTHASTE_TEST_POSTGRES_BIN";
/// The system user to run PostgreSQL as: set only for root, as whom it refuses to run.
pub const POSTGRES_USER: &str = "POSTHASTE_TEST_POSTGRES_USER";
/// URL of a PgBouncer in front of that server, in transaction mode.
pub const PGBOUNCER: &str = "POSTHASTE_TEST_PGBOUNCER";
/// `host:port` of a Kafka broker, without encryption or authentication.
pub const KAFKA: &str = "POSTHASTE_TEST_KAFKA";
/// `host:port` of the same broker for PLAIN, SCRAM-SHA-256 and SCRAM-SHA-512, as [`KAFKA_SASL_USER`].
pub const KAFKA_SASL: &str = "POSTHASTE_TEST_KAFKA_SASL";
/// `host:port` of the same broker with TLS; its certificate is signed by [`KAFKA_CA`].
pub const KAFKA_SSL: &str = "POSTHASTE_TEST_KAFKA_SSL";
/// File with the certificate of the authority that signed the broker's, in PEM.
pub const KAFKA_CA: &str = "POSTHASTE_TEST_KAFKA_CA";
/// Folder with Kafka's jars, for tests that start a broker of their own.
pub const KAFKA_LIB: &str = "POSTHASTE_TEST_KAFKA_LIB";

/// The browser's program, for tests of the dashboard.
pub const CHROMIUM: &str = "POSTHASTE_TEST_CHROMIUM";
/// The program that drives it, of the same version.
pub const CHROMEDRIVER: &str = "POSTHASTE_TEST_CHROMEDRIVER";

/// For how many seconds a test waits for something before it fails.
pub const PATIENCE: &str = "POSTHASTE_TEST_PATIENCE";

/// Who may use the listener at [`KAFKA_SASL`].
pub const KAFKA_SASL_USER: &str = "posthaste";
/// The password of [`KAFKA_SASL_USER`].
pub const KAFKA_SASL_PASSWORD: &str = "posthaste";

/// How long a test waits for something: far longer than anything takes on a slow machine, unless [`PATIENCE`] says otherwise.
pub fn patience() -> Duration {
    let seconds = given(PATIENCE).and_then(|text| text.parse().ok());
    Duration::from_secs(seconds.unwrap_or(60))
}

/// Where PostgreSQL is, as a superuser: the value of [`POSTGRES`].
pub fn postgres_url() -> String {
    required(POSTGRES)
}

/// Where PostgreSQL's programs are: the value of [`POSTGRES_BIN`].
pub fn postgres_bin() -> PathBuf {
    required(POSTGRES_BIN).into()
}

/// The user to run a PostgreSQL of one's own as, if not as oneself: the value of [`POSTGRES_USER`].
pub fn postgres_user() -> Option<String> {
    given(POSTGRES_USER)
}

/// Where PgBouncer is, in front of [`postgres_url`]: the value of [`PGBOUNCER`].
pub fn pgbouncer_url() -> String {
    required(PGBOUNCER)
}

/// Where Kafka is: the value of [`KAFKA`].
pub fn kafka() -> String {
    required(KAFKA)
}

/// Where Kafka asks for a user and a password: the value of [`KAFKA_SASL`].
pub fn kafka_sasl() -> String {
    required(KAFKA_SASL)
}

/// Where Kafka speaks TLS: the value of [`KAFKA_SSL`].
pub fn kafka_ssl() -> String {
    required(KAFKA_SSL)
}

/// The certificate of Kafka's authority: the value of [`KAFKA_CA`].
pub fn kafka_ca() -> PathBuf {
    required(KAFKA_CA).into()
}

/// Where Kafka's jars are: the value of [`KAFKA_LIB`].
pub fn kafka_lib() -> PathBuf {
    required(KAFKA_LIB).into()
}

/// The variable's value; an empty one counts as not set.
pub fn given(variable: &str) -> Option<String> {
    env::var(variable).ok().filter(|value| !value.is_empty())
}

fn required(variable: &str) -> String {
    given(variable).unwrap_or_else(|| panic!("{}", how_to_set(variable)))
}

fn how_to_set(variable: &str) -> String {
    format!(
        "{variable} is not set, so this test has no server: run `eval \"$(cargo xtask services up)\"` in this shell \
         first, or everything with `cargo xtask test`, or set the variable to a server of yours (CONTRIBUTING.md)"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "POSTHASTE_TEST_NOBODY_SETS_THIS is not set")]
    fn a_missing_server_is_a_failure_and_never_silence() {
        required("POSTHASTE_TEST_NOBODY_SETS_THIS");
    }

    #[test]
    fn the_message_says_which_command_helps() {
        assert!(how_to_set(KAFKA).contains("eval \"$(cargo xtask services up)\""));
    }
}
