//! Command lines that are not understood: exit code 2, and a message that says what to write.

use crate::fixture::Fixture;

#[track_caller]
fn check_refused(arguments: &[&str], parts: &[&str]) {
    let ran = Fixture::empty().run(arguments).failed(2, parts);
    assert_eq!(ran.out, "");
}

#[test]
fn what_is_not_understood_exits_with_2_and_says_what_to_write() {
    let url = ["--database", "sqlite://shop.db"];
    check_refused(&[], &["Usage: posthaste", "migrate", "Exit codes"]);
    check_refused(&["replay"], &["unrecognized subcommand"]);
    check_refused(&["status"], &["--database <URL>"]);
    check_refused(&["status", "--database", "shop.db"], &["sqlite://shop.db"]);
    check_refused(&["status", "--database", "mysql://localhost"], &["sqlite://shop.db"]);
    check_refused(
        &["status", "--database", "postgress://ada:hunter2@db/shop"],
        &["postgress://ada:***@db/shop is no database"],
    );
    check_refused(&["relay", url[0], url[1]], &["--sink <SINK>"]);
    check_refused(&["relay", url[0], url[1], "--sink", "kafka://localhost"], &["write kafka:BROKERS/TOPIC"]);
    check_refused(
        &["relay", url[0], url[1], "--sink", "nats://localhost"],
        &["no such sink", "write stdout, file:PATH or kafka:BROKERS/TOPIC"],
    );
    check_refused(
        &["relay", url[0], url[1], "--config", "relay.yaml"],
        &["the argument '--database <URL>' cannot be used with '--config <FILE>'"],
    );
    check_refused(&["relay", "--sink", "stdout", "--config", "relay.yaml"], &["cannot be used with"]);
    check_refused(&["migrate", url[0], url[1], "--print"], &["--print and --adopt are for PostgreSQL"]);
    check_refused(
        &["config", "check"],
        &["the environment has 2 problems", "environment: database.url is missing"],
    );
    check_refused(
        &["relay", url[0], url[1], "--sink", "stdout", "--order", "any"],
        &["allowed are key, none"],
    );
    check_refused(
        &["relay", url[0], url[1], "--sink", "stdout", "--from", "then"],
        &["allowed are beginning, now"],
    );
    check_refused(
        &["relay", url[0], url[1], "--sink", "stdout", "--log", "posthaste=loud"],
        &["write a level"],
    );
    check_refused(&["relay", url[0], url[1], "--sink", "stdout", "--types", "a,,b"], &["--types <TYPES>"]);
    check_refused(&["migrate", url[0], url[1], "--lanes", "65"], &["65 is not in 1..=64"]);
    check_refused(&["demo", "--duration", "12"], &["write for example 12s"]);
}

#[test]
fn help_has_examples_and_the_exit_codes() {
    let fixture = Fixture::empty();

    fixture.run(&["--help"]).succeeded().says(&[
        "Exit codes:",
        "0  it was done",
        "1  it failed",
        "2  the command line",
        "3  refused",
    ]);
    for command in ["demo", "migrate", "relay", "status", "config"] {
        fixture.run(&[command, "--help"]).succeeded().says(&["Examples:", &format!("  posthaste {command}")]);
    }
    let hidden = fixture.run(&["relay", "--help"]).succeeded();
    assert!(!hidden.out.contains("--lease"), "{}", hidden.out);
}
