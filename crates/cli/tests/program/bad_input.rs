//! Bad input: each has a clear message or becomes a dead letter, and nothing else stops.

use std::{
    fs::OpenOptions,
    io::{Seek, SeekFrom, Write},
};

use crate::fixture::{Fixture, wait_until};

const MIGRATE: [&str; 3] = ["migrate", "--database", "sqlite://shop.db"];
const RELAY: [&str; 6] = ["relay", "--database", "sqlite://shop.db", "--once", "--sink", "file:events.jsonl"];

#[test]
fn an_unknown_column_is_refused_by_the_database_and_stops_nobody() {
    let fixture = Fixture::migrated();
    let _relay = fixture.start_relay(&["--sink", "file:events.jsonl"]);
    let insert = "insert into outbox (topic, event_type, colour, payload) values ('a', 'b', 'red', '{}')";
    let error = fixture.sql(insert).unwrap_err().to_string();
    fixture.publish(3, 1);

    assert!(error.contains("table outbox has no column named colour"), "{error}");
    wait_until("the good ones are there", || fixture.lines("events.jsonl").len() == 3);
    assert_eq!(fixture.number("select count(*) from outbox"), 3);
}

/// Inserts a broken row between two good ones of its key, and demands that only it is given up.
fn check_becomes_a_dead_letter(insert: &str, error: &str) {
    let fixture = Fixture::migrated();
    fixture.publish(1, 1);
    fixture.sql(insert).unwrap();
    fixture.publish(1, 1);
    let ran = fixture.run(&RELAY).succeeded();

    assert_eq!(fixture.lines("events.jsonl").len(), 2);
    assert_eq!(fixture.text("select reason from outbox_dead"), "poison_message");
    let stored = fixture.text("select error from outbox_dead");
    assert!(stored.contains(error), "{stored}");
    assert!(ran.err.contains("event became a dead letter") && ran.err.contains("dead=1"), "{ran:?}");
    fixture
        .run(&["status", "--database", "sqlite://shop.db"])
        .succeeded()
        .says(&["1 dead letter waits for a person"]);
}

#[test]
fn malformed_json_in_a_row_becomes_a_dead_letter() {
    let insert =
        "insert into outbox (topic, event_type, key, payload) values ('a', 'b', 'order-0', '{\"name\":')";
    check_becomes_a_dead_letter(insert, "the payload is not JSON");
}

#[test]
fn a_header_that_is_not_text_becomes_a_dead_letter() {
    let insert = "insert into outbox (topic, event_type, key, payload, headers)
                  values ('a', 'b', 'order-0', '{}', '{\"retries\": 3}')";
    check_becomes_a_dead_letter(insert, "the headers are not a JSON object of texts");
}

#[test]
fn retry_overrides_that_are_not_understood_become_a_dead_letter() {
    let insert = "insert into outbox (topic, event_type, key, payload, retry)
                  values ('a', 'b', 'order-0', '{}', '{\"max_attempts\": \"many\"}')";
    check_becomes_a_dead_letter(insert, "the retry overrides are not understood");
}

#[test]
fn a_file_that_cannot_be_written_says_so() {
    let fixture = Fixture::migrated();
    fixture.sql("pragma wal_checkpoint(truncate); pragma journal_mode = delete").unwrap();
    // Permissions do not bind every user. A file with an unknown write version is read-only for all.
    let mut file = OpenOptions::new().write(true).open(fixture.path("shop.db")).unwrap();
    file.seek(SeekFrom::Start(18)).unwrap();
    file.write_all(&[9]).unwrap();
    drop(file);

    fixture.run(&RELAY).failed(1, &["read-only", "make the file and its folder writable"]);
}

#[test]
fn a_file_that_is_no_database_says_so() {
    let fixture = Fixture::empty();
    std::fs::write(fixture.path("shop.db"), "to whom it may concern\n".repeat(100)).unwrap();
    let text = ["the file is not an SQLite database", "check the path"];

    fixture.run(&MIGRATE).failed(1, &text);
    fixture.run(&RELAY).failed(1, &text);
    fixture.run(&["status", "--database", "sqlite://shop.db"]).failed(1, &text);
}

#[test]
fn tables_of_a_newer_program_are_left_alone() {
    let fixture = Fixture::migrated();
    fixture.sql("update outbox_meta set value = '99' where name = 'schema_version'").unwrap();
    let text = ["the tables have schema version 99", "use a newer program"];

    fixture.run(&MIGRATE).failed(1, &text);
    fixture.run(&RELAY).failed(1, &text);
    fixture.run(&["status", "--database", "sqlite://shop.db"]).failed(1, &text);
}

#[test]
fn the_number_of_lanes_cannot_change() {
    let fixture = Fixture::migrated();

    let text = ["created with 64 lanes, and 16 are configured", "cannot change"];
    fixture.run(&[&MIGRATE[..], &["--lanes", "16"]].concat()).failed(1, &text);
    fixture.run(&[&MIGRATE[..], &["--lanes", "64"]].concat()).succeeded();
}

#[test]
fn a_database_that_another_program_keeps_locked_says_so() {
    let fixture = Fixture::migrated();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let ran = runtime.block_on(async {
        use sqlx::{ConnectOptions, sqlite::SqliteConnectOptions};
        let options = SqliteConnectOptions::new().filename(fixture.path("shop.db"));
        let mut connection = options.connect().await.unwrap();
        sqlx::raw_sql("begin exclusive").execute(&mut connection).await.unwrap();
        fixture.run(&RELAY)
    });

    ran.failed(1, &["the database is locked by another writer"]);
}

#[test]
fn a_prefix_never_becomes_sql() {
    let fixture = Fixture::migrated();

    let ran = fixture.run(&[&MIGRATE[..], &["--prefix", "a\"; drop table outbox; --"]].concat());
    ran.failed(1, &["table prefix", "is not allowed", "lower-case letter"]);
    assert_eq!(fixture.number("select count(*) from outbox"), 0);
}

#[test]
fn a_subscription_needs_a_plain_name() {
    let fixture = Fixture::migrated();

    let ran = fixture.run(&[&RELAY[..], &["--subscription", "with space"]].concat());
    ran.failed(1, &["subscription name \"with space\" is not allowed", "letters, digits"]);
}

#[test]
fn a_sink_that_cannot_be_written_says_so() {
    let fixture = Fixture::migrated();

    let ran = fixture.run(&[
        "relay",
        "--database",
        "sqlite://shop.db",
        "--once",
        "--sink",
        "file:no/such/folder/x",
    ]);
    ran.failed(1, &["cannot open no/such/folder/x", "because: No such file or directory"]);
}
