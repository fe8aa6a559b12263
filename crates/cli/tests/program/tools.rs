//! `token`, `completions`, `migrate status`, and what holds for all commands: help, pipes, colours.

use std::{
    io::{BufRead, BufReader},
    process::Stdio,
};

use crate::fixture::{Fixture, Running};

#[test]
fn a_token_is_shown_once_and_its_hash_is_what_a_relay_takes() {
    let fixture = Fixture::empty();
    let token = fixture.run(&["token", "new", "--name", "ada", "--role", "operator", "--json"]).json();
    assert!(token["token"].as_str().unwrap().starts_with("posthaste_"), "{token}");
    let ran = fixture.run(&["token", "new", "--name", "ada", "--role", "operator"]).succeeded();
    let section = &ran.out[ran.out.find("server:").unwrap()..];
    let rest = "database: { url: sqlite://shop.db }\nsubscriptions: [{ name: a, sink: { stdout: {} } }]\n";
    fixture.configure("relay.yaml", &format!("{section}{rest}"));
    fixture.run(&["config", "check", "relay.yaml"]).succeeded();
    fixture.run(&["token", "new", "--role", "king"]).failed(2, &["allowed are viewer, operator"]);
}

#[test]
fn shells_get_completions() {
    let fixture = Fixture::empty();
    for (shell, part) in
        [("bash", "complete -F"), ("zsh", "#compdef posthaste"), ("fish", "complete -c posthaste")]
    {
        fixture.run(&["completions", shell]).succeeded().says(&[part, "subscriptions"]);
    }
    fixture.run(&["completions", "cmd"]).failed(2, &["bash", "zsh"]);
}

#[test]
fn the_state_of_the_tables_is_told_and_not_changed() {
    let fixture = Fixture::empty();
    let status = ["migrate", "status", "--database", "sqlite://shop.db"];
    let missing = fixture.run(&status);
    assert_eq!(missing.code, Some(1), "{missing:?}");
    missing.says(&["not up to date: there is no database file shop.db"]);
    assert!(!fixture.path("shop.db").exists());

    fixture.run(&["migrate", "--database", "sqlite://shop.db"]).succeeded();
    fixture.run(&status).succeeded().says(&["up to date: schema version", "64 lanes"]);
    fixture.sql("update outbox_meta set value = '1' where name = 'schema_version'").unwrap();
    let old = fixture.run(&[&status[..], &["--json"]].concat());
    assert_eq!(old.code, Some(1), "{old:?}");
    old.says(&["\"up_to_date\":false", "the tables have schema version 1"]);
}

#[test]
fn the_pages_are_measured_over_a_log_of_any_size() {
    let fixture = Fixture::empty();
    let ran = fixture.run(&["bench", "--only", "pages", "--history", "5000", "--rounds", "1", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{ran:?}"));
    let pages = report["pages"].as_array().unwrap();
    let missed = pages.iter().any(|page| page["missed"] == true);

    assert_eq!(ran.code, Some(i32::from(missed)), "the exit code says whether one took too long: {ran:?}");
    assert_eq!((&report["events"], &report["dead_letters"]), (&5_000.into(), &50.into()));
    for name in ["overview", "events", "event", "key", "dead letters", "groups", "relays", "audit", "jobs"] {
        let page = pages.iter().find(|page| page["page"] == name).unwrap_or_else(|| panic!("{name}"));
        let (half, worst) = (page["p50_ms"].as_f64().unwrap(), page["worst_ms"].as_f64().unwrap());
        assert!(0.0 < half && half <= worst, "{page}");
    }
    let whole = pages.iter().find(|page| page["page"] == "events").unwrap();
    let together = serde_json::json!([["/api/v1/subscriptions", "/api/v1/events"]]);
    assert_eq!(whole["asked"], together, "as the page asks, in one step");
    fixture.run(&["bench", "--only", "drain"]).failed(2, &["--database"]);
    fixture.run(&["bench", "--only", "pages,drain"]).failed(2, &["pages"]);
}

#[test]
fn every_command_has_help_with_examples() {
    let fixture = Fixture::empty();
    for command in [
        "publish",
        "events list",
        "events show",
        "tail",
        "dlq groups",
        "dlq list",
        "dlq show",
        "dlq replay",
        "dlq edit",
        "dlq discard",
        "dlq export",
        "jobs list",
        "jobs show",
        "jobs watch",
        "jobs cancel",
        "subscriptions list",
        "subscriptions pause",
        "subscriptions resume",
        "subscriptions reset",
        "subscriptions drop",
        "lanes",
        "audit",
        "doctor",
        "token new",
        "completions",
        "migrate status",
    ] {
        let words: Vec<&str> = command.split(' ').chain(["--help"]).collect();
        fixture.run(&words).succeeded().says(&["Examples:", &format!("  posthaste {command}")]);
    }
    fixture.run(&["event", "list"]).failed(2, &["unrecognized subcommand 'event'", "events"]);
}

/// As `posthaste … | head -n 1`.
#[test]
fn a_reader_that_has_seen_enough_ends_it_quietly() {
    let fixture = Fixture::migrated();
    fixture.publish(20_000, 100);
    for arguments in
        [&["events", "list", "--all"][..], &["events", "list", "--all", "--json"], &["tail", "-n", "1000"]]
    {
        let arguments = [arguments, &["--database", "sqlite://shop.db"]].concat();
        let mut command = fixture.command(&arguments);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut running = Running(child);
        let mut first = String::new();
        BufReader::with_capacity(64, running.0.stdout.take().unwrap()).read_line(&mut first).unwrap();
        assert!(!first.is_empty());
        // The reader is gone; something more has to happen for a program that follows.
        fixture.publish(1_000, 1);
        assert_eq!(running.wait(), Some(0), "{arguments:?}");
        let mut complaints = String::new();
        std::io::Read::read_to_string(&mut running.0.stderr.take().unwrap(), &mut complaints).unwrap();
        assert_eq!(complaints, "", "{arguments:?}");
    }
}
