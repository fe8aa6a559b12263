//! Starting each kind of server, and what tests need to know of it.

use std::{
    fmt::Display,
    net::{TcpStream, ToSocketAddrs},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use posthaste_services::{
    KAFKA, KAFKA_CA, KAFKA_LIB, KAFKA_SASL, KAFKA_SSL, PGBOUNCER, POSTGRES, POSTGRES_BIN, POSTGRES_USER,
    kafka::{self, Kafka},
    pgbouncer::{self, PgBouncer},
    postgres::{self, Postgres},
    say,
};

use super::state::{Kind, Server, Variables};

/// Where servers are started.
pub(crate) struct Place {
    /// For their data; goes with them.
    pub(crate) folder: PathBuf,
    /// For what was fetched; stays.
    pub(crate) cache: PathBuf,
}

/// Starts a server of this kind, where that makes sense in front of this PostgreSQL.
pub(crate) fn start(kind: Kind, place: &Place, postgres: Option<&str>) -> Result<Server> {
    let begun = Instant::now();
    let server = match kind {
        Kind::Postgres => start_postgres(&place.folder.join("postgres")),
        Kind::PgBouncer => start_pgbouncer(&place.folder.join("pgbouncer"), postgres),
        Kind::Kafka => start_kafka(&place.folder.join("kafka"), &place.cache),
    };
    let server = server.with_context(|| format!("{} was not started", kind.name()))?;
    let Server { version, address, .. } = &server;
    say(&format!(
        "  {} {version} at {address}: ready after {:.1} s",
        kind.name(),
        begun.elapsed().as_secs_f64()
    ));
    Ok(server)
}

fn start_postgres(folder: &Path) -> Result<Server> {
    let installation = postgres::Installation::find_or_install()?;
    let server = Postgres::start(&installation, folder)?;
    let mut variables = vec![pair(POSTGRES, server.url())];
    variables.extend(postgres_programs(&installation));
    Ok(Server {
        kind: Kind::Postgres,
        version: installation.version,
        address: server.address(),
        log: server.log(),
        behind: None,
        process: server.detach()?,
        variables,
    })
}

/// What a test needs that makes a cluster of its own.
pub(crate) fn postgres_programs(installation: &postgres::Installation) -> Variables {
    let bin = pair(POSTGRES_BIN, installation.bin.display());
    std::iter::once(bin).chain(installation.user().map(|user| pair(POSTGRES_USER, user))).collect()
}

fn start_pgbouncer(folder: &Path, url: Option<&str>) -> Result<Server> {
    let url = url.context("there is no PostgreSQL to put it in front of")?;
    let installation = pgbouncer::Installation::find_or_install()?;
    let server = PgBouncer::start(&installation, &postgres::Installation::find_or_install()?, folder, url)?;
    Ok(Server {
        kind: Kind::PgBouncer,
        version: installation.version(),
        address: server.address(),
        log: server.log(),
        behind: Some(url.to_owned()),
        variables: vec![pair(PGBOUNCER, server.url())],
        process: server.detach(),
    })
}

fn start_kafka(folder: &Path, cache: &Path) -> Result<Server> {
    let installation = kafka::Installation::find_or_install(cache)?;
    let broker = Kafka::start(&installation, folder)?;
    Ok(Server {
        kind: Kind::Kafka,
        version: kafka::VERSION.to_owned(),
        address: broker.bootstrap(),
        log: broker.log(),
        behind: None,
        variables: vec![
            pair(KAFKA, broker.bootstrap()),
            pair(KAFKA_SASL, broker.sasl()),
            pair(KAFKA_SSL, broker.ssl()),
            pair(KAFKA_CA, installation.certificates.authority.display()),
            pair(KAFKA_LIB, installation.lib.display()),
        ],
        process: broker.detach()?,
    })
}

/// What a test needs that starts a broker of its own.
pub(crate) fn kafka_programs(installation: &kafka::Installation) -> Variables {
    vec![pair(KAFKA_LIB, installation.lib.display())]
}

fn pair(name: &str, value: impl Display) -> (String, String) {
    (name.to_owned(), value.to_string())
}

/// Fails if nothing listens where the variable says: a variable easily outlives its server.
pub(crate) fn check_given(kind: Kind, value: &str) -> Result<()> {
    let (name, variable) = (kind.name(), kind.variable());
    let addresses = address_of(value).to_socket_addrs();
    let mut addresses = addresses.with_context(|| format!("{variable}={value} names no host and port"))?;
    if !addresses.any(|address| TcpStream::connect_timeout(&address, Duration::from_secs(5)).is_ok()) {
        bail!(
            "{variable} is set to {value}, and nothing listens there: start that {name}, or `unset {variable}` to \
             have one started"
        );
    }
    Ok(())
}

/// The `host:port` of a URL, or of the first server in a list of them.
pub(crate) fn address_of(value: &str) -> String {
    let after_scheme = value.split_once("://").map_or(value, |(_, rest)| rest);
    let after_login = after_scheme.rsplit_once('@').map_or(after_scheme, |(_, rest)| rest);
    let address = after_login.split(['/', '?', ',']).next().unwrap_or_default();
    if value.contains("://") && !address.contains(':') {
        format!("{address}:5432")
    } else {
        address.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn finds_the_address_in_a_variable() {
        for (value, address) in [
            ("postgres://me:secret@db:5433/shop?sslmode=disable", "db:5433"),
            ("postgres://me:se@cret@db/shop", "db:5432"),
            ("127.0.0.1:9092", "127.0.0.1:9092"),
            ("one:9092,two:9092", "one:9092"),
        ] {
            assert_eq!(address_of(value), address, "{value}");
        }
    }

    #[test]
    fn a_variable_that_outlived_its_server_is_named() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let value = listener.local_addr().unwrap().to_string();

        check_given(Kind::Kafka, &value).unwrap();
        // Nobody listens at the first of all ports.
        let error = check_given(Kind::Kafka, "127.0.0.1:1").unwrap_err();

        assert!(error.to_string().contains("`unset POSTHASTE_TEST_KAFKA`"), "{error}");
    }
}
