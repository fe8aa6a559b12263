//! A disk without room, played by a limit on the size of files. In a program of its own: it starts another one, and
//! while a process is being started it shares the locks of the files that other tests have open.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{
    fs,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use posthaste_core::{
    Delivery, Entry, Event, EventId, EventRules, Fault, FaultKind, Lane, Origin, Position, Sink, Stamp,
    Timestamp,
};
use posthaste_file::FileSink;
use serde_json::Value;
use tempfile::tempdir;

fn small(position: i64) -> Entry {
    let stamp = Stamp { id: EventId::from_bytes([1; 16]), now: Timestamp(0) };
    let draft = Event::of("a").key("k").json(&position).unwrap();
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

async fn deliver(sink: &FileSink, batch: &[Entry]) -> Vec<Delivery> {
    sink.deliver(batch, Instant::now() + Duration::from_secs(60)).await
}

/// The payloads in the file, in order; every line must be whole.
fn data(path: &Path) -> Vec<i64> {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.ends_with('\n'));
    text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["data"].as_i64().unwrap()).collect()
}

/// Runs itself again under a limit on the size of files, so that a write really stops half way.
#[tokio::test]
async fn a_write_that_stops_half_way_is_taken_back() {
    const NAME: &str = "a_write_that_stops_half_way_is_taken_back";
    const PATH: &str = "POSTHASTE_TEST_LIMITED_FILE";
    if let Ok(path) = std::env::var(PATH) {
        return fill_up(Path::new(&path)).await;
    }
    let folder = tempdir().unwrap();

    let limited = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 8; exec \"$0\" \"$@\""])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", NAME, "--nocapture"])
        .env(PATH, folder.path().join("events.jsonl"))
        .output()
        .unwrap();

    let output = String::from_utf8_lossy(&limited.stdout);
    assert!(limited.status.success() && output.contains("1 passed"), "{output}");
}

async fn fill_up(path: &Path) {
    let sink = FileSink::create(path).unwrap();
    let many: Vec<_> = (2..100).map(small).collect();
    assert_eq!(deliver(&sink, &[small(1)]).await, [Delivery::Delivered]);

    let answers = deliver(&sink, &many).await;
    let Delivery::Failed(Fault { kind: FaultKind::Unavailable, message, .. }) = &answers[0] else {
        panic!("{answers:?}")
    };
    assert!(message.contains("events.jsonl: File too large"), "{message}");
    assert!(answers[1..].iter().all(|answer| *answer == Delivery::NotSent));
    assert_eq!(data(path), [1], "nothing of the batch is left");
    assert!(sink.ping().await.is_err(), "there is still no room for it");
    assert_eq!(data(path), [1], "nor of the probe");

    assert_eq!(deliver(&sink, &many[..2]).await, [Delivery::Delivered, Delivery::Delivered]);
    assert_eq!(sink.ping().await, Ok(()));
    assert_eq!(data(path), [1, 2, 3]);
}
