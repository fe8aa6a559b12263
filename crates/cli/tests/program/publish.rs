//! `posthaste publish`: from flags and from JSON lines, everything or nothing, and what is wrong by its line.

use crate::fixture::Fixture;

const PUBLISH: [&str; 3] = ["publish", "--database", "sqlite://shop.db"];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&PUBLISH[..], more].concat()
}

#[test]
fn flags_are_one_event_and_its_id_is_answered() {
    let fixture = Fixture::migrated();
    let flags = [
        "--type",
        "order.placed",
        "--payload",
        r#"{"order": 7, "sum": 1.50}"#,
        "--aggregate",
        "order:7",
        "--header",
        "a=b=c",
        "--tenant",
        "t",
        "--topic",
        "orders",
        "--idempotency-key",
        "k",
        "--delay",
        "1h",
    ];
    let ran = fixture.run(&with(&flags)).succeeded();
    let id = ran.out.trim().to_owned();
    assert_eq!(id.len(), 36, "{ran:?}");
    assert_eq!(ran.err, "published 1 event\n");

    let shown = fixture.on_shop(&["events", "show", &id, "--json"]).json();
    assert_eq!(shown["payload"], r#"{"order": 7, "sum": 1.50}"#, "as it was written");
    assert_eq!((&shown["event"]["key"], &shown["event"]["topic"]), (&"7".into(), &"orders".into()));
    assert_eq!((&shown["headers"]["a"], &shown["event"]["tenant_id"]), (&"b=c".into(), &"t".into()));
    assert!(shown["event"]["deliver_after"].is_string(), "{shown}");

    let again = fixture.run(&with(&flags)).succeeded();
    assert_eq!(again.out.trim(), id, "the same idempotency key is the same event");
    assert!(again.err.contains("1 of them had been before"), "{again:?}");
    assert_eq!(fixture.number("select count(*) from outbox"), 1);
}

#[test]
fn a_payload_may_be_anything_that_has_a_content_type() {
    let fixture = Fixture::migrated();
    std::fs::write(fixture.path("note.txt"), "not \"JSON\"\n").unwrap();
    fixture
        .run(&with(&["--type", "note", "--payload-file", "note.txt", "--content-type", "text/plain"]))
        .succeeded();
    assert_eq!(fixture.text("select cast(payload as text) from outbox"), "not \"JSON\"\n");
}

#[test]
fn lines_are_published_in_order_all_or_none() {
    let fixture = Fixture::migrated();
    let lines: String =
        (0..1_500).map(|n| format!("{{\"event_type\":\"a\",\"key\":\"k\",\"payload\":{n}}}\n")).collect();
    let ran = fixture.run_with_input(&with(&["--json"]), &lines).succeeded();
    let answers = ran.json_lines();
    assert_eq!(answers.len(), 1_500);
    assert!(answers.windows(2).all(|pair| pair[0]["position"].as_i64() < pair[1]["position"].as_i64()));
    assert_eq!((&answers[9]["line"], &answers[9]["duplicate"]), (&10.into(), &false.into()));

    let bad = format!(
        "{lines}{{\"event_type\":\"a\"}}\n\nnonsense\n{{\"event_type\":\"a\",\"payload\":1,\"kye\":\"k\"}}\n"
    );
    let ran = fixture.run_with_input(&with(&[]), &bad).failed(
        2,
        &[
            "nothing was published",
            "line 1501: missing field `payload`",
            "line 1503: expected ident, at column 2",
            "line 1504: unknown field `kye`, expected one of `event_type`",
        ],
    );
    assert_eq!(ran.out, "");
    assert_eq!(fixture.number("select count(*) from outbox"), 1_500);
}

#[test]
fn a_dry_run_checks_and_writes_nothing() {
    let fixture = Fixture::migrated();
    let good = "{\"event_type\":\"a\",\"payload\":1}\n";
    let ran = fixture.run_with_input(&with(&["--dry-run"]), good).succeeded();
    assert_eq!(
        (ran.out.as_str(), ran.err.as_str()),
        ("", "1 event would be published; nothing was written\n")
    );
    fixture.run_with_input(&with(&["--dry-run"]), "{}\n").failed(2, &["line 1: missing field `event_type`"]);
    assert_eq!(fixture.number("select count(*) from outbox"), 0);
}

#[test]
fn batches_stay_and_it_is_said_up_to_where() {
    let fixture = Fixture::migrated();
    let line = |n: u32| format!("{{\"event_type\":\"a\",\"payload\":{n}}}\n");
    let lines: String = (1..=25).map(line).chain(["x\n".to_owned()]).chain((27..=30).map(line)).collect();
    let ran = fixture
        .run_with_input(&with(&["--batch", "10"]), &lines)
        .failed(2, &["line 26: expected value", "lines up to 20 are published, and none behind it"]);
    assert_eq!(ran.out.lines().count(), 20);
    assert_eq!(fixture.number("select count(*) from outbox"), 20);

    let ran =
        fixture.run_with_input(&with(&["--batch", "10"]), &lines[..lines.find("x\n").unwrap()]).succeeded();
    assert_eq!((ran.out.lines().count(), ran.err.as_str()), (25, "published 25 events\n"));
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let fixture = Fixture::migrated();
    let refused = |more: &[&str], parts: &[&str]| drop(fixture.run(&with(more)).failed(2, parts));
    refused(&["--type", "a"], &["no payload: write --payload"]);
    refused(&["--type", "a", "--payload", "{"], &["the payload is not JSON", "write --content-type"]);
    refused(&["--type", "", "--payload", "1"], &["the event type is empty"]);
    refused(&["--payload", "1"], &["--type <TYPE>"]);
    refused(&["--type", "a", "--payload", "1", "--aggregate", "7"], &["write TYPE:ID"]);
    refused(&["--type", "a", "--payload", "1", "--header", "7"], &["write NAME=VALUE"]);
    refused(&["--type", "a", "--payload", "1", "--deliver-after", "soon"], &["is no time"]);
    refused(&["--type", "a", "--payload", "1", "--id", "7"], &["is neither a UUID"]);
    refused(&["--type", "a", "--payload", "1", "--batch", "7"], &["cannot be used with"]);
    refused(&["--batch", "0"], &["0 is not in 1..=10000"]);
    let large = format!("\"{}\"", "x".repeat(1 << 20));
    std::fs::write(fixture.path("large.json"), large).unwrap();
    refused(&["--type", "a", "--payload-file", "large.json"], &["1048578 bytes, and 1048576 are allowed"]);
    fixture.run(&with(&["--input", "none.jsonl"])).failed(1, &["cannot read none.jsonl"]);
    assert_eq!(fixture.number("select count(*) from outbox"), 0);
}
