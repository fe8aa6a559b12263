//! Servers that a test starts for itself, to kill them: what was committed is there again, at the same address.

#![cfg(unix)]

use std::process::Command;

use posthaste_services::{
    kafka::{self, Kafka},
    postgres::{self, Postgres, StopMode},
};

#[test]
fn postgres_has_what_was_committed_after_every_way_to_stop() {
    let folder = tempfile::tempdir().unwrap();
    let installation = postgres::Installation::given().unwrap();
    // One folder down: root's temporary folders are closed to the user that PostgreSQL runs as.
    let mut server = Postgres::start(&installation, &folder.path().join("postgres")).unwrap();
    let url = server.url();
    let ask = |statement: &str| {
        let output = Command::new(installation.bin.join("psql")).args(["-XAtqc", statement, &url]).output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    };
    ask("create table kept (way text)");

    for mode in [StopMode::Fast, StopMode::Immediate, StopMode::Kill] {
        ask(&format!("insert into kept values ('{mode:?}')"));
        server.restart(mode).unwrap();
    }

    assert_eq!(server.url(), url);
    assert_eq!(ask("select way from kept"), "Fast\nImmediate\nKill\n");
    assert_eq!(ask("show fsync"), "on\n");
    assert_eq!(ask("show max_prepared_transactions"), "64\n");
    drop(server);
    assert_eq!(ask("select 1"), "", "the server outlived its owner");
}

#[test]
fn kafka_answers_at_the_same_address_after_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let installation = kafka::Installation::given().unwrap();
    let mut broker = Kafka::start(&installation, folder.path()).unwrap();
    let address = broker.bootstrap();

    broker.kill().unwrap();
    assert!(std::net::TcpStream::connect(&address).is_err(), "a killed broker listens");
    broker.start_again().unwrap();

    assert_eq!(broker.bootstrap(), address);
    assert!(std::net::TcpStream::connect(&address).is_ok());
}
