//! What stands in the file, and what becomes of it when a write or a program ends half way.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use posthaste_core::{
    DeadReason, Delivery, Entry, Event, EventBuilder, EventId, EventRules, FaultKind, Lane, Origin, Payload,
    Position, Sink, Stamp, Timestamp,
};
use posthaste_file::FileSink;
use serde_json::{Value, json};
use tempfile::tempdir;

fn entry(position: i64, draft: EventBuilder) -> Entry {
    let stamp = Stamp { id: EventId::from_bytes([1; 16]), now: Timestamp(1_700_000_000_123_456) };
    Entry {
        position: Position(position),
        lane: Lane(0),
        event: draft.build(&EventRules::default(), stamp).unwrap(),
        origin: Origin::Log,
        attempts: 0,
        blocked: false,
        delayed: false,
        defect: None,
    }
}

fn small(position: i64) -> Entry {
    entry(position, Event::of("a").key("k").json(&position).unwrap())
}

async fn deliver(sink: &FileSink, batch: &[Entry]) -> Vec<Delivery> {
    sink.deliver(batch, Instant::now() + Duration::from_secs(60)).await
}

fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.is_empty() || text.ends_with('\n'));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The payloads in the file, in order.
fn data(path: &Path) -> Vec<i64> {
    lines(path).iter().map(|line| line["data"].as_i64().unwrap()).collect()
}

fn refusal(path: &Path) -> String {
    FileSink::create(path).unwrap_err().chain()
}

#[tokio::test]
async fn a_line_is_a_cloud_event_with_everything_the_event_has() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("events.jsonl");
    let sink = FileSink::create(&path).unwrap().source("https://shop.example");
    let draft = Event::of("order.placed")
        .aggregate("order", 42)
        .key("customer-7")
        .version(3)
        .tenant("acme")
        .correlation("c-1")
        .header("Traceparent", "00-ab-cd-01")
        .header("X-Größe", "\"1\"\n")
        .payload(Payload::Json("{\n  \"total\": 1.50, \"n\": 12345678901234567890\r\n}".to_owned()));

    assert_eq!(deliver(&sink, &[entry(5, draft)]).await, [Delivery::Delivered]);

    assert!(
        fs::read_to_string(&path)
            .unwrap()
            .contains(r#""data":{   "total": 1.50, "n": 12345678901234567890  }}"#)
    );
    let mut line = lines(&path).remove(0);
    assert_eq!(line["data"].take()["total"], 1.5);
    let expected = json!({
        "specversion": "1.0",
        "id": "01010101-0101-0101-0101-010101010101",
        "source": "https://shop.example",
        "type": "order.placed",
        "subject": "42",
        "time": "2023-11-14T22:13:20.123456Z",
        "datacontenttype": "application/json",
        "data": null,
        "topic": "order.placed",
        "sequence": "0000000000000000005",
        "partitionkey": "customer-7",
        "eventversion": "1.0.0",
        "aggregatetype": "order",
        "aggregateversion": "3",
        "tenantid": "acme",
        "correlationid": "c-1",
        "traceparent": "00-ab-cd-01",
        "headers": r#"{"Traceparent":"00-ab-cd-01","X-Größe":"\"1\"\n"}"#,
    });
    assert_eq!(line, expected);
}

#[tokio::test]
async fn bytes_are_written_as_base64_and_what_is_missing_is_left_out() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("events.jsonl");
    let sink = FileSink::create(&path).unwrap().without_sync();

    deliver(&sink, &[entry(1, Event::of("a").bytes(vec![0, 255, 16], "image/png"))]).await;

    let expected = json!({
        "specversion": "1.0",
        "id": "01010101-0101-0101-0101-010101010101",
        "source": "posthaste",
        "type": "a",
        "time": "2023-11-14T22:13:20.123456Z",
        "datacontenttype": "image/png",
        "data_base64": "AP8Q",
        "topic": "a",
        "sequence": "0000000000000000001",
        "eventversion": "1.0.0",
    });
    assert_eq!(lines(&path), [expected]);
}

#[tokio::test]
async fn a_restart_appends() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("events.jsonl");

    deliver(&FileSink::create(&path).unwrap(), &[small(1), small(2)]).await;
    deliver(&FileSink::create(&path).unwrap(), &[small(3)]).await;

    assert_eq!(data(&path), [1, 2, 3]);
}

#[tokio::test]
async fn a_torn_last_line_is_removed_at_the_start() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("events.jsonl");
    let long = entry(2, Event::of("a").json(&"x".repeat(300_000)).unwrap());
    deliver(&FileSink::create(&path).unwrap(), &[small(1), long]).await;
    let whole = fs::read(&path).unwrap();
    let first = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;

    for cut in [first + 1, first + 40, whole.len() - 1] {
        fs::write(&path, &whole[..cut]).unwrap();
        deliver(&FileSink::create(&path).unwrap(), &[small(3)]).await;
        assert_eq!(data(&path), [1, 3], "cut at {cut}");
    }
    fs::write(&path, [&whole[..first], &[0; 20]].concat()).unwrap();
    drop(FileSink::create(&path).unwrap());
    assert_eq!(data(&path), [1], "zeros that a power loss left");
}

#[tokio::test]
async fn a_file_of_somebody_else_is_not_cut() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("notes.txt");
    fs::write(&path, "one\ntwo").unwrap();

    let message = refusal(&path);

    assert!(message.contains("notes.txt") && message.contains("line break"), "{message}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "one\ntwo");
}

#[test]
fn a_path_that_cannot_be_written_is_refused_with_its_name_and_the_reason() {
    let folder = tempdir().unwrap();
    let nowhere = folder.path().join("missing").join("events.jsonl");

    for (path, reason) in [(nowhere.as_path(), "No such file"), (folder.path(), "directory")] {
        let message = refusal(path);
        assert!(message.contains(path.to_str().unwrap()) && message.contains(reason), "{message}");
    }
}

#[test]
fn a_file_has_one_writer() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("events.jsonl");
    let first = FileSink::create(&path).unwrap();

    assert!(refusal(&path).contains("another sink"));
    drop(first);
    assert!(FileSink::create(&path).is_ok());
}

#[tokio::test]
async fn a_payload_that_is_not_json_is_poison_for_its_key_only() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("events.jsonl");
    let sink = FileSink::create(&path).unwrap();
    let broken = entry(1, Event::of("a").key("bad").payload(Payload::Json("{\"secret\": \n".to_owned())));
    let behind = entry(2, Event::of("a").key("bad").json(&2).unwrap());

    let answers = deliver(&sink, &[broken, behind, small(3)]).await;

    let Delivery::Failed(fault) = &answers[0] else { panic!("{answers:?}") };
    assert_eq!((fault.kind, fault.reason), (FaultKind::Permanent, DeadReason::PoisonMessage));
    assert!(fault.message.contains("not JSON") && !fault.message.contains("secret"), "{fault}");
    assert_eq!(answers[1..], [Delivery::NotSent, Delivery::Delivered]);
    assert_eq!(data(&path), [3]);
}

#[tokio::test]
async fn nothing_is_written_after_the_deadline() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("events.jsonl");
    let sink = FileSink::create(&path).unwrap();

    assert_eq!(sink.deliver(&[small(1)], Instant::now()).await, [Delivery::NotSent]);
    assert!(lines(&path).is_empty());
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_device_that_takes_nothing_is_unavailable() {
    let sink = FileSink::create("/dev/full").unwrap();

    let answers = deliver(&sink, &[small(1), small(2)]).await;

    assert!(
        matches!(&answers[0], Delivery::Failed(fault) if fault.kind == FaultKind::Unavailable),
        "{answers:?}"
    );
    assert_eq!(answers[1], Delivery::NotSent);
    assert!(sink.ping().await.is_err());
}
