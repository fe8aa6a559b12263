//! `posthaste relay`: delivering, filtering, stopping.

use std::io::{BufRead, BufReader};

use crate::fixture::{Fixture, assert_ordered, distinct, live_relays, parse_lines, wait_until};

/// Runs a relay on `shop.db` until nothing is left.
const ONCE: [&str; 4] = ["relay", "--database", "sqlite://shop.db", "--once"];

#[test]
fn an_insert_in_plain_sql_is_a_whole_event() {
    let fixture = Fixture::migrated();
    let insert = r#"insert into outbox (topic, event_type, key, payload)
                    values ('users', 'user.created', '42', '{"name":"Ada"}')"#;
    fixture.sql(insert).unwrap();
    fixture.run(&[&ONCE[..], &["--sink", "file:events.jsonl"]].concat()).succeeded();

    let lines = fixture.lines("events.jsonl");
    assert_eq!(lines.len(), 1);
    let expected = [
        ("specversion", "1.0"),
        ("type", "user.created"),
        ("topic", "users"),
        ("partitionkey", "42"),
        ("eventversion", "1.0.0"),
        ("datacontenttype", "application/json"),
    ];
    for (name, value) in expected {
        assert_eq!(lines[0][name], value, "{name}");
    }
    assert_eq!(lines[0]["data"]["name"], "Ada");
}

#[test]
fn delivers_everything_once_and_in_order_and_goes_on_where_it_was() {
    let fixture = Fixture::migrated();
    fixture.publish(500, 20);
    let relay = [&ONCE[..], &["--sink", "file:events.jsonl"]].concat();
    fixture.run(&relay).succeeded();
    fixture.publish(100, 20);
    let second = fixture.run(&relay).succeeded();

    let lines = fixture.lines("events.jsonl");
    assert_eq!((lines.len(), distinct(&lines)), (600, 600));
    assert_ordered(&lines);
    assert!(second.err.contains("relay stopped") && second.err.contains("delivered=100"), "{second:?}");
    assert_eq!(fixture.number("select count(*) from outbox_status where status = 'delivered'"), 600);
}

#[test]
fn events_go_to_standard_output_and_logs_to_standard_error() {
    let fixture = Fixture::migrated();
    fixture.publish(5, 5);
    let ran = fixture.run(&[&ONCE[..], &["--sink", "stdout"]].concat()).succeeded();

    assert_eq!(parse_lines(&ran.out).len(), 5);
    assert!(ran.err.contains("relay started") && !ran.err.contains('\x1b'), "{}", ran.err);
    let silent = fixture.run(&[&ONCE[..], &["--sink", "stdout", "--log", "off"]].concat()).succeeded();
    assert_eq!((silent.out.as_str(), silent.err.as_str()), ("", ""));
}

#[test]
fn only_what_the_filter_wants_is_delivered_and_the_rest_does_not_wait() {
    let fixture = Fixture::migrated();
    for event_type in ["order.placed", "order.paid", "user.created", "page.viewed"] {
        let insert = "insert into outbox (topic, event_type, payload)";
        fixture.sql(&format!("{insert} values ('shop', '{event_type}', '{{}}')")).unwrap();
    }
    let filter = ["--sink", "file:events.jsonl", "--types", "order.*,user.created", "--topics", "sh*p"];
    fixture.run(&[&ONCE[..], &filter].concat()).succeeded();

    let mut types: Vec<_> =
        fixture.lines("events.jsonl").iter().map(|line| line["type"].to_string()).collect();
    types.sort();
    assert_eq!(types, [r#""order.paid""#, r#""order.placed""#, r#""user.created""#]);
    assert_eq!(fixture.status()["subscriptions"][0]["pending"], 0);
}

#[test]
fn a_new_subscription_may_begin_now() {
    let fixture = Fixture::migrated();
    fixture.publish(3, 1);
    let late = ["--sink", "file:late.jsonl", "--subscription", "late", "--from", "now"];
    fixture.run(&[&ONCE[..], &late].concat()).succeeded();
    fixture.publish(2, 1);
    fixture.run(&[&ONCE[..], &late].concat()).succeeded();

    assert_eq!(fixture.lines("late.jsonl").len(), 2);
}

#[test]
fn missing_tables_are_created_and_a_missing_file_is_not() {
    let fixture = Fixture::empty();
    let relay = [&ONCE[..], &["--sink", "stdout"]].concat();
    fixture.run(&relay).failed(1, &["there is no database file shop.db", "posthaste migrate"]);
    assert!(!fixture.path("shop.db").exists());

    std::fs::write(fixture.path("shop.db"), "").unwrap();
    fixture.run(&relay).succeeded();
    assert_eq!(fixture.number("select count(*) from outbox_subscriptions"), 1);
}

#[test]
fn what_is_not_due_is_left_for_another_time() {
    let fixture = Fixture::migrated();
    let insert = "insert into outbox (topic, event_type, key, payload, deliver_after)";
    fixture.sql(&format!("{insert} values ('a', 'b', 'k', '{{}}', 9000000000000000)")).unwrap();
    let ran = fixture.run(&[&ONCE[..], &["--sink", "file:events.jsonl"]].concat()).succeeded();

    assert!(ran.err.contains("delayed=1"), "{ran:?}");
    assert!(fixture.lines("events.jsonl").is_empty());
}

#[test]
#[cfg(unix)]
fn a_signal_stops_it_in_peace() {
    for signal in ["TERM", "INT"] {
        let fixture = Fixture::migrated();
        let mut relay = fixture.start_relay(&["--sink", "file:events.jsonl"]);
        fixture.publish(50, 5);
        wait_until("the events are there", || fixture.lines("events.jsonl").len() == 50);
        relay.signal(signal);

        assert_eq!(relay.wait(), Some(0), "SIG{signal}");
        let status = fixture.status();
        assert_eq!(live_relays(&status), 0, "it has left");
        assert_eq!(status["subscriptions"][0]["delivered"], 50);
        assert_eq!(status["subscriptions"][0]["lanes_held"], 0);
    }
}

#[test]
#[cfg(unix)]
fn a_reader_that_stands_still_does_not_keep_it_from_stopping() {
    let fixture = Fixture::migrated();
    fixture.publish(5_000, 5);
    let mut relay = fixture.start_relay(&["--sink", "stdout", "--grace", "300ms", "--lease", "2s"]);
    let mut out = BufReader::new(relay.0.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    relay.signal("TERM");

    assert_eq!(relay.wait(), Some(1), "it stopped in the middle, and says so");
}

#[test]
#[cfg(unix)]
fn a_reader_that_goes_away_ends_it() {
    let fixture = Fixture::migrated();
    fixture.publish(5_000, 5);
    let mut relay = fixture.start_relay(&["--sink", "stdout"]);
    let mut line = String::new();
    BufReader::new(relay.0.stdout.take().unwrap()).read_line(&mut line).unwrap();

    assert_eq!(relay.wait(), Some(1));
    assert_eq!(parse_lines(&line).len(), 1);
}
