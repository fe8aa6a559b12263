//! `posthaste relay --config` on SQLite: several subscriptions, stopping, crashing, and what it cannot start with.

use std::io::{BufRead, BufReader, Read};

use crate::fixture::{Fixture, assert_ordered, distinct, live_relays, parse_lines, wait_until};

/// One subscription to a file and one, of some events only, to standard output.
const TWO: &str = "
database: { url: sqlite://shop.db }
relay: { lease: 1s, grace: 5s, move_interval: 100ms }
subscriptions:
  - name: archive
    sink: { file: { path: archive.jsonl } }
  - name: changes
    filter: { types: ['order.changed'] }
    sink: { stdout: {} }
";

fn configured(text: &str) -> Fixture {
    let fixture = Fixture::migrated();
    fixture.configure("relay.yaml", text);
    fixture
}

#[test]
fn two_subscriptions_each_get_what_they_want() {
    let fixture = configured(TWO);
    fixture.publish(200, 10);
    fixture
        .sql("insert into outbox (topic, event_type, payload) values ('pages', 'page.viewed', '{}')")
        .unwrap();
    let ran = fixture.run(&["relay", "--config", "relay.yaml", "--once"]).succeeded();

    let (archive, changes) = (fixture.lines("archive.jsonl"), parse_lines(&ran.out));
    assert_eq!((archive.len(), distinct(&archive)), (201, 201));
    assert_eq!((changes.len(), distinct(&changes)), (200, 200));
    assert_ordered(&changes);
    for line in [
        "relay started database=sqlite://shop.db prefix=\"outbox\" lanes=64",
        "serving subscription=\"archive\" sink=file:archive.jsonl types=\"*\"",
        "serving subscription=\"changes\" sink=stdout types=\"order.changed\"",
        "served subscription=\"archive\" delivered=201 pending=0",
        "served subscription=\"changes\" delivered=200 pending=0",
    ] {
        assert!(ran.err.contains(line), "{line} in {}", ran.err);
    }
}

#[test]
#[cfg(unix)]
fn a_signal_hands_over_and_the_next_one_repeats_nothing() {
    for signal in ["TERM", "INT"] {
        let fixture = configured(TWO);
        let mut first = fixture.start_configured("relay.yaml");
        let out = first.read_aside();
        fixture.publish(3_000, 10);
        wait_until("it delivers", || !fixture.lines("archive.jsonl").is_empty());
        first.signal(signal);
        assert_eq!(first.wait(), Some(0), "{}", fixture.log("relay.yaml"));
        let text = out.join().unwrap();
        let status = fixture.status();
        assert_eq!((live_relays(&status), &status["subscriptions"][0]["lanes_held"]), (0, &0.into()));

        let rest = fixture.run(&["relay", "--config", "relay.yaml", "--once"]).succeeded();
        let changes = parse_lines(&(text + &rest.out));
        let archive = fixture.lines("archive.jsonl");
        assert_eq!((changes.len(), distinct(&changes)), (3_000, 3_000), "SIG{signal}");
        assert_eq!((archive.len(), distinct(&archive)), (3_000, 3_000), "SIG{signal}");
        assert_ordered(&changes);
        assert_ordered(&archive);
    }
}

#[test]
#[cfg(unix)]
fn what_a_killed_relay_left_the_next_one_delivers() {
    let fixture = configured(TWO);
    fixture.publish(20_000, 300);
    let mut first = fixture.start_configured("relay.yaml");
    let mut out = BufReader::new(first.0.stdout.take().unwrap());
    let mut text = String::new();
    for _ in 0..2_000 {
        out.read_line(&mut text).unwrap();
    }
    first.signal("KILL");
    assert_eq!(first.wait(), None, "killed");
    out.read_to_string(&mut text).unwrap();
    let early = parse_lines(&text).len();
    assert!((2_000..20_000).contains(&early), "it was killed in the middle: {early}");

    let rest = fixture.run(&["relay", "--config", "relay.yaml", "--once"]).succeeded();
    let changes = [parse_lines(&text), parse_lines(&rest.out)].concat();
    assert_eq!(distinct(&changes), 20_000);
    assert_eq!(distinct(&fixture.lines("archive.jsonl")), 20_000);
    assert_ordered(&changes);
    assert_ordered(&fixture.lines("archive.jsonl"));
}

#[test]
fn missing_tables_are_created_only_if_the_file_says_so_and_a_missing_file_never() {
    let fixture = Fixture::empty();
    fixture.configure("relay.yaml", TWO);
    fixture.configure("migrates.yaml", &TWO.replace("shop.db }", "shop.db, migrate: true }"));
    for file in ["relay.yaml", "migrates.yaml"] {
        fixture
            .run(&["relay", "--config", file])
            .failed(3, &["there is no database file shop.db", "posthaste migrate"]);
    }
    assert!(!fixture.path("shop.db").exists());

    std::fs::write(fixture.path("shop.db"), "").unwrap();
    let text = ["there are no tables with the prefix \"outbox\"", "posthaste migrate"];
    fixture.run(&["relay", "--config", "relay.yaml", "--once"]).failed(3, &text);
    fixture.run(&["relay", "--config", "migrates.yaml", "--once"]).succeeded();
}

#[test]
fn the_file_also_names_the_database_for_other_commands() {
    let fixture = Fixture::empty();
    fixture.configure("relay.yaml", &TWO.replace("shop.db }", "shop.db, prefix: billing, lanes: 8 }"));

    let migrated = fixture.run(&["migrate", "--config", "relay.yaml"]).succeeded();
    migrated.says(&["8 lanes", "next: posthaste relay --config relay.yaml"]);
    fixture
        .run(&["status", "--config", "relay.yaml"])
        .succeeded()
        .says(&["8 lanes", "insert into billing (topic"]);
}

#[test]
fn a_destination_that_refuses_ends_it_before_it_begins() {
    let fixture = configured(&TWO.replace("archive.jsonl", "no/such/folder/x"));
    fixture.run(&["relay", "--config", "relay.yaml", "--once"]).failed(3, &["cannot open no/such/folder/x"]);

    let fixture = configured(TWO);
    let _first = fixture.start_configured("relay.yaml");
    wait_until("the first one has its file", || live_relays(&fixture.status()) == 1);
    fixture
        .run(&["relay", "--config", "relay.yaml", "--once"])
        .failed(3, &["archive.jsonl is being written by another sink"]);
}

#[test]
fn a_bad_file_starts_nothing() {
    let fixture = configured(&TWO.replace("lease: 1s", "lease: 1"));

    let ran = fixture.run(&["relay", "--config", "relay.yaml", "--once"]);
    ran.failed(
        2,
        &["relay.yaml has 1 problem\n  line 3: relay.lease is 1; allowed is a time from 500ms to 1h"],
    );
    assert!(!fixture.path("archive.jsonl").exists());
}

#[test]
#[cfg(unix)]
fn a_locked_database_is_waited_for() {
    let fixture = configured(TWO);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let relay = runtime.block_on(async {
        use sqlx::{ConnectOptions, sqlite::SqliteConnectOptions};
        let options = SqliteConnectOptions::new().filename(fixture.path("shop.db"));
        let mut connection = options.connect().await.unwrap();
        sqlx::raw_sql("begin exclusive").execute(&mut connection).await.unwrap();
        let relay = fixture.start_configured("relay.yaml");
        wait_until("it says so", || fixture.log("relay.yaml").contains("cannot be reached; trying again"));
        relay
    });
    wait_until("it has started", || fixture.log("relay.yaml").contains("relay started"));
    drop(relay);
}
