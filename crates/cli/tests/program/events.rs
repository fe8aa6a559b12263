//! `posthaste events`, `lanes` and `audit`: what is there, in pages, for people and for programs.

use crate::fixture::{Fixture, Ran};

fn list(fixture: &Fixture, more: &[&str]) -> Ran {
    fixture.on_shop(&[&["events", "list"], more].concat())
}

#[test]
fn events_are_listed_with_filters_and_pages() {
    let fixture = Fixture::migrated();
    fixture.publish(120, 3);
    fixture.deliver_once("mail");
    fixture.publish(1, 1);

    let all = list(&fixture, &["--all", "--json"]).json_lines();
    assert_eq!((all.len(), &all[0]["position"]), (121, &121.into()), "newest first");
    let key = list(&fixture, &["--key", "order-1", "--oldest-first", "--limit", "2", "--json"]).succeeded();
    let cursor =
        key.err.split("--cursor ").nth(1).and_then(|rest| rest.split(',').next()).unwrap().to_owned();
    let first: Vec<_> = key.json_lines().iter().map(|event| event["position"].as_i64().unwrap()).collect();
    assert_eq!(first, [1, 4]);
    let more = list(
        &fixture,
        &["--key", "order-1", "--oldest-first", "--limit", "1", "--json", "--cursor", &cursor],
    );
    assert_eq!(more.json_lines()[0]["position"], 7);

    let pending = list(&fixture, &["--subscription", "mail", "--status", "pending", "--json"]).json_lines();
    assert_eq!((pending.len(), &pending[0]["position"]), (1, &121.into()));
    assert_eq!(
        list(&fixture, &["--since", "1h", "--type", "order.changed", "--json", "--all"]).json_lines().len(),
        121
    );
    assert_eq!(list(&fixture, &["--until", "1h", "--json"]).json_lines().len(), 0);

    let table = list(&fixture, &["--limit", "3"]).succeeded();
    assert!(table.out.lines().next().unwrap().starts_with("id  "), "{}", table.out);
    table.says(&["order.changed", "order-", "pending", "delivered", "just now"]);
}

#[test]
fn empty_lists_say_what_to_do() {
    let fixture = Fixture::migrated();
    list(&fixture, &[]).succeeded().says(&["No events yet", "posthaste publish --type user.created"]);
    list(&fixture, &["--topic", "none"]).succeeded().says(&["No event fits"]);
    fixture.on_shop(&["lanes"]).succeeded().says(&["No subscriptions yet", "posthaste relay"]);
    fixture.on_shop(&["audit"]).succeeded().says(&["No operator did anything"]);
    fixture.on_shop(&["jobs", "list"]).succeeded().says(&["No jobs"]);
    fixture.on_shop(&["dlq", "list"]).succeeded().says(&["No dead letters"]);
    fixture.on_shop(&["dlq", "groups"]).succeeded().says(&["No dead letters"]);
    fixture.on_shop(&["subscriptions", "list"]).succeeded().says(&["No subscriptions yet"]);
}

#[test]
fn one_event_is_shown_with_all_that_happened_to_it() {
    let fixture = Fixture::migrated();
    fixture.bury(1);
    let id = list(&fixture, &["--json"]).json_lines()[0]["id"].as_str().unwrap().to_owned();

    let shown = fixture.on_shop(&["events", "show", &id]).succeeded();
    shown.says(&[
        "order.broken",
        &id,
        "topic",
        "orders",
        "payload",
        "{\"n\":1",
        "mail",
        "dead",
        "timeline",
        "published",
    ]);
    let json = fixture.on_shop(&["events", "show", &id, "--json"]).json();
    assert_eq!(
        (&json["event"]["statuses"][0]["status"], &json["items"][0]["what"]),
        (&"dead".into(), &"published".into())
    );
    assert!(json["event"]["created_at"].as_str().unwrap().ends_with('Z'), "{json}");
}

#[test]
fn what_is_not_there_or_not_understood_is_refused() {
    let fixture = Fixture::migrated();
    fixture.publish(1, 1);
    fixture.deliver_once("mail");
    let nobody = "0190163d-8694-739b-aea5-966c26f8ad91";
    fixture.on_shop(&["events", "show", nobody]).failed(1, &[nobody]);
    fixture.on_shop(&["events", "show", "42"]).failed(2, &["neither a UUID", "nor a ULID"]);
    list(&fixture, &["--cursor", "42"]).failed(2, &["--cursor \"42\" is none of this listing"]);
    let of_audit = "YQAAAAAAAAAB";
    list(&fixture, &["--cursor", of_audit]).failed(2, &["none of this listing"]);
    list(&fixture, &["--since", "yesterday"]).failed(2, &["--since <TIME>", "2026-03-01T12:00:00Z"]);
    list(&fixture, &["--since", "1h", "--until", "2h"]).failed(2, &["the time after which"]);
    list(&fixture, &["--status", "done", "--subscription", "mail"])
        .failed(2, &["allowed are pending, processing"]);
    list(&fixture, &["--status", "dead"]).failed(2, &["--subscription <NAME>"]);
    list(&fixture, &["--limit", "1001"]).failed(2, &["1001 is not in 1..=1000"]);
    list(&fixture, &["--limit", "5", "--all"]).failed(2, &["cannot be used with"]);
    list(&fixture, &["--subscription", "mial"])
        .failed(1, &["no subscription is called \"mial\"; did you mean mail?"]);
    fixture.on_shop(&["lanes", "maill"]).failed(1, &["did you mean mail?"]);
    fixture.on_shop(&["lanes", "x-and-y"]).failed(1, &["known are mail"]);
    fixture.on_shop(&["audit", "--what", "danced"]).failed(2, &["allowed are replayed"]);
}

#[test]
fn lanes_tell_holder_cursor_and_backlog() {
    let fixture = Fixture::migrated();
    fixture.publish(10, 5);
    fixture.deliver_once("mail");
    fixture.publish(3, 1);

    let lanes = fixture.on_shop(&["lanes", "--json"]).json_lines();
    assert_eq!(
        (lanes.len(), &lanes[63]["lane"], &lanes[0]["subscription"]),
        (64, &63.into(), &"mail".into())
    );
    assert!(lanes.iter().all(|lane| lane["holder"].is_null()), "the relay is gone");
    assert_eq!(lanes.iter().map(|lane| lane["pending"].as_u64().unwrap()).sum::<u64>(), 3);
    let table = fixture.on_shop(&["lanes", "mail", "--behind"]).succeeded();
    table.says(&["mail  1 of 64 lanes, 0 held, 3 pending", "given back"]);
}

#[test]
fn a_table_fits_its_columns_and_has_no_colours_in_a_pipe() {
    let fixture = Fixture::migrated();
    fixture.bury(3);
    for arguments in [
        &["events", "list"][..],
        &["dlq", "list"],
        &["dlq", "groups"],
        &["lanes", "--behind"],
        &["subscriptions", "list"],
    ] {
        let mut command = fixture.command(&[arguments, &["--database", "sqlite://shop.db"]].concat());
        let output = command.env("COLUMNS", "80").output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && !text.contains('\x1b'), "{text}");
        let lines: Vec<&str> = text.lines().filter(|line| !line.contains("posthaste ")).collect();
        assert!(lines.iter().all(|line| line.chars().count() <= 80), "{arguments:?}\n{text}");
    }
}
