//! `posthaste config`: what is wrong with a file, what it comes to, and one to begin with.

use crate::fixture::{Fixture, Ran};

/// Checks a file with this text.
fn check(text: &str) -> Ran {
    let fixture = Fixture::empty();
    fixture.configure("relay.yaml", text);
    fixture.run(&["config", "check", "relay.yaml"])
}

#[test]
fn a_file_to_begin_with_is_fine_and_runs_at_once() {
    let fixture = Fixture::migrated();
    let example = fixture.run(&["config", "init"]).succeeded().out;
    fixture.configure("relay.yaml", &example);
    fixture.publish(3, 1);

    fixture.run(&["config", "check", "relay.yaml"]).succeeded().says(&[
        "relay.yaml is fine",
        "database  sqlite://shop.db, table outbox",
        "archive → file:archive.jsonl",
        "orders → stdout\n  types order.*; topics all",
    ]);
    let ran = fixture.run(&["relay", "--config", "relay.yaml", "--once"]).succeeded();
    assert_eq!((ran.out.lines().count(), fixture.lines("archive.jsonl").len()), (3, 3));
}

#[test]
fn everything_that_is_wrong_is_said_at_once_and_exits_with_2() {
    let ran = check(
        "database:
  url: postgres://relay:${NO_SUCH_VARIABLE}@db/shop
  lanes: 65
  prefx: a
relay: { lease: soon }
subscriptions:
  - name: orders
    sink: { stdout: {}, file: { path: file:/no/such/secret } }
  - name: orders
    sink: { kafka: { brokers: 'localhost:9092', sasl: { mechanism: PLAIN, user: ada, password: file:/no/such/secret } } }
",
    );

    let expected = "\
error: relay.yaml has 8 problems
  line 2: database.url needs the environment variable NO_SUCH_VARIABLE, which is not set
  line 3: database.lanes is 65; allowed is a whole number from 1 to 64
  line 4: database.prefx is not known; did you mean prefix?
  line 5: relay.lease is soon; allowed is a time from 500ms to 1h
  line 8: subscriptions[0].sink.file.path is in the file /no/such/secret, which cannot be read: No such file or directory (os error 2)
  line 8: subscriptions[0].sink has file and stdout; allowed is one of kafka, file or stdout
  line 9: subscriptions[1].name is orders, as that of subscriptions[0] (line 7); each needs its own
  line 10: subscriptions[1].sink.kafka.sasl.password is in the file /no/such/secret, which cannot be read: No such file or directory (os error 2)
";
    assert_eq!(ran.failed(2, &[]).err, expected);
}

#[test]
fn a_file_without_anything_says_what_is_needed() {
    for text in ["", "database:\nsubscriptions: []\n"] {
        check(text).failed(
            2,
            &[
                "database.url is missing; allowed is postgres://",
                "subscriptions is",
                "at least one is needed",
            ],
        );
    }
    check("database: {\n").failed(2, &["relay.yaml has 1 problem\n  line 1: this is no YAML"]);
}

#[test]
fn a_file_that_is_not_there_is_no_bad_file() {
    let fixture = Fixture::empty();

    for arguments in [["config", "check"], ["config", "show"], ["relay", "--config"], ["status", "--config"]]
    {
        let ran = fixture.run(&[&arguments[..], &["relay.yaml"]].concat());
        ran.failed(1, &["error: cannot read relay.yaml\n  because: No such file or directory"]);
    }
}

#[test]
fn what_counts_is_shown_without_secrets() {
    let fixture = Fixture::empty();
    fixture.configure(
        "relay.yaml",
        "database: { url: 'postgres://relay:${PW}@db/shop' }
subscriptions:
  - name: orders
    retry: { base: 1500ms }
    sink: { kafka: { brokers: 'a:9092', sasl: { mechanism: PLAIN, user: ada, password: '${PW}' }, properties: { client.rack: '${PW}' } } }
",
    );
    for action in ["check", "show"] {
        let output =
            fixture.command(&["config", action, "relay.yaml"]).env("PW", "hunter2").output().unwrap();
        let (out, err) =
            (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        assert!(
            output.status.success() && !out.contains("hunter2") && !err.contains("hunter2"),
            "{out}{err}"
        );
        assert!(out.contains("postgres://relay:***@db/shop"), "{out}");
        if action == "show" {
            for line in
                ["      base: 1s 500ms\n", "          password: \"***\"\n", "  lease: 15s  # default\n"]
            {
                assert!(out.contains(line), "{line}{out}");
            }
        }
    }
}

#[test]
fn no_secret_is_shown_whatever_is_wrong() {
    for text in [
        "database: { url: 'mysql://relay:hunter2@db/shop' }",
        "database: { url: 'postgres://relay:hunter2@db:x/shop' }",
        "database: { password: hunter2 }",
        "database: { url: 'sqlite://a', password: [hunter2",
        "subscriptions: [{ name: a, sink: { kafka: { brokers: a, sasl: { password: [hunter2] } } } }]",
        "subscriptions: [{ name: a, sink: { kafka: { brokers: a, properties: { acks: hunter2 } } } }]",
    ] {
        let ran = check(text).failed(2, &["problem"]);
        assert!(!ran.err.contains("hunter2"), "{text}\n{}", ran.err);
    }
}

#[test]
fn it_is_told_where_each_value_comes_from() {
    let fixture = Fixture::empty();
    fixture.configure(
        "relay.yaml",
        "database: { url: sqlite://shop.db }\nsubscriptions:\n  - { name: a, sink: { stdout: {} } }\n",
    );
    let mut command = fixture.command(&["config", "show", "--origins", "relay.yaml"]);
    let output = command.env("POSTHASTE_RELAY_BATCH", "5").output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    for line in [
        "  url: \"sqlite://shop.db\"  # line 1\n",
        "  batch: 5  # POSTHASTE_RELAY_BATCH\n",
        "  lease: 15s  # default\n",
    ] {
        assert!(out.contains(line), "{line}{out}");
    }
}

#[test]
fn the_schema_is_the_one_in_the_documentation() {
    let out = Fixture::empty().run(&["config", "schema"]).succeeded().out;
    assert!(
        out == include_str!("../../../../docs/posthaste.schema.json"),
        "docs/posthaste.schema.json is old"
    );
}
