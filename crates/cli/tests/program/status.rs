//! `posthaste status`.

use crate::fixture::{Fixture, live_relays};

const STATUS: [&str; 3] = ["status", "--database", "sqlite://shop.db"];

#[test]
fn an_empty_log_says_what_to_do_next() {
    let fixture = Fixture::migrated();
    let ran = fixture.run(&STATUS).succeeded();

    ran.says(&[
        "0 events",
        "64 lanes",
        "No subscriptions yet",
        "posthaste relay --database sqlite://shop.db --sink stdout",
        "insert into outbox (topic, event_type, key, payload)",
    ]);
}

#[test]
fn shows_each_subscription_and_hints_at_what_waits() {
    let fixture = Fixture::migrated();
    fixture.publish(3, 1);
    let relay = ["relay", "--database", "sqlite://shop.db", "--sink", "file:a.jsonl", "--once"];
    fixture.run(&relay).succeeded();
    fixture.publish(1_500, 10);

    let ran = fixture.run(&STATUS).succeeded();
    let row = ran.out.lines().find(|line| line.starts_with("default")).unwrap();
    assert_eq!(
        row.split_whitespace().take(7).collect::<Vec<_>>(),
        ["default", "1,500", "0", "0", "0", "3", "0/64"]
    );
    assert!(ran.out.lines().all(|line| line.chars().count() <= 80), "{}", ran.out);
    ran.says(&["1,503 events", "No relay is running"]);
}

#[test]
fn answers_programs_in_json() {
    let fixture = Fixture::migrated();
    fixture.publish(2, 1);
    fixture.run(&["relay", "--database", "sqlite://shop.db", "--sink", "file:a.jsonl", "--once"]).succeeded();

    let status = fixture.status();
    assert_eq!((&status["events"], &status["lanes"], live_relays(&status)), (&2.into(), &64.into(), 0));
    let subscription = &status["subscriptions"][0];
    assert_eq!(subscription["name"], "default");
    assert_eq!((&subscription["delivered"], &subscription["pending"]), (&2.into(), &0.into()));
    assert!(subscription["oldest_age_seconds"].is_null());
}

#[test]
fn a_missing_file_is_named_and_not_created() {
    let fixture = Fixture::empty();

    fixture.run(&STATUS).failed(1, &["there is no database file shop.db", "posthaste migrate"]);
    assert!(!fixture.path("shop.db").exists());
}

#[test]
fn missing_tables_are_not_created() {
    let fixture = Fixture::empty();
    std::fs::write(fixture.path("shop.db"), "").unwrap();

    fixture.run(&STATUS).failed(1, &["there are no tables with the prefix \"outbox\"", "posthaste migrate"]);
}
