//! The fakes fail as they are told to, and only so.

use std::{
    panic::AssertUnwindSafe,
    time::{Duration, Instant},
};

use futures_util::FutureExt;
use posthaste_core::{
    Act, ActKind, Appended, Cursor, Delivery, Entry, ErrorKind, Event, EventId, EventRules, Fault, Lane, Log,
    Origin, Position, RelayId, Sink, Stamp, Subscription, Timestamp, memory::MemoryLog,
};
use posthaste_testkit::{
    FailingLog, FlakySink, ManualClock,
    failing_log::{Chance, Operation, When},
    flaky::{Odds, Promise},
    history::Received,
};

#[tokio::test]
async fn a_flaky_sink_keeps_the_promise_about_keys() {
    let sink = sink();
    sink.fail(id(2), 1, Fault::transient("not now"));
    let batch =
        [entry(1, Some("a")), entry(2, Some("a")), entry(3, Some("b")), entry(4, Some("a")), entry(5, None)];

    assert_eq!(deliver(&sink, &batch).await, "D F D N D");
    assert_eq!(received(&sink), [1, 3, 5]);

    assert_eq!(deliver(&sink, &batch[1..2]).await, "D", "once is over");
    assert_eq!((sink.own_failures(id(2)), sink.own_failures(id(1))), (1, 0));
}

#[tokio::test]
async fn a_flaky_sink_breaks_its_promise_when_told() {
    let batch = [entry(1, Some("a")), entry(2, Some("a"))];
    for (promise, says, expected) in
        [(Promise::Kept, true, "F N"), (Promise::Broken, true, "F D"), (Promise::NotMade, false, "F D")]
    {
        let sink = sink();
        sink.fail_always(id(1), Fault::permanent("never"));
        sink.promise(promise);

        assert_eq!(deliver(&sink, &batch).await, expected);
        assert_eq!(sink.keeps_key_order(), says);
    }
}

#[tokio::test]
async fn a_flaky_sink_is_down_until_it_comes_up() {
    let sink = sink();
    let batch = [entry(1, Some("a")), entry(2, Some("a")), entry(3, None)];

    sink.go_down();
    assert_eq!(deliver(&sink, &batch).await, "F N F");
    assert!(sink.ping().await.is_err());
    sink.throttle(Duration::from_secs(1));
    assert_eq!(deliver(&sink, &batch).await, "F N F");
    assert!(sink.ping().await.is_ok());
    sink.come_up();
    assert_eq!(deliver(&sink, &batch).await, "D D D");

    assert_eq!(sink.own_failures(id(1)), 0, "an outage is nobody's own failure");
    assert_eq!(sink.pings(), 2);
}

#[tokio::test]
async fn a_flaky_sink_receives_and_says_it_did_not() {
    let sink = sink();
    sink.lose_answer(id(1), 2, Fault::timeout("no answer"));

    for expected in ["F", "F", "D"] {
        assert_eq!(deliver(&sink, &[entry(1, None)]).await, expected);
    }

    assert_eq!((sink.count_of(id(1)), sink.own_failures(id(1))), (3, 2));
}

#[tokio::test]
async fn a_flaky_sink_panics_and_lives_on() {
    let sink = sink();
    sink.panic_on(id(2), 1);
    let batch = [entry(1, None), entry(2, None)];

    let panic = AssertUnwindSafe(deliver(&sink, &batch)).catch_unwind().await;

    assert!(panic.is_err());
    assert_eq!(received(&sink), [1], "what came before the panic has arrived");
    assert_eq!(deliver(&sink, &batch).await, "D D");
}

#[tokio::test]
async fn a_flaky_sink_hangs_until_it_is_released() {
    let sink = sink();
    let (batch, late) = ([entry(1, None)], [entry(2, None)]);
    sink.block();

    let mut hanging = Box::pin(deliver(&sink, &batch));
    assert!(hanging.as_mut().now_or_never().is_none());
    let mut over = Box::pin(sink.deliver(&late, Instant::now()));
    assert!(over.as_mut().now_or_never().is_none());
    sink.release();

    assert_eq!(hanging.await, "D");
    assert_eq!(over.await, [Delivery::NotSent], "its time was over when it could go");
    sink.wait_for(1).now_or_never().expect("it is there");
    assert!(sink.wait_for(2).now_or_never().is_none());
}

#[tokio::test]
async fn a_receipt_tells_who_when_and_what() {
    let clock = ManualClock::new(Timestamp(7));
    let sink = FlakySink::new(clock.shared());
    clock.advance(Duration::from_micros(3));

    deliver(&sink.used_by("relay-1"), &[entry(1, Some("a"))]).await;

    let receipts = sink.received();
    let receipt = &receipts[0];
    assert_eq!(
        (receipt.position, receipt.key.as_deref(), receipt.at),
        (Position(1), Some("a"), Timestamp(10))
    );
    assert_eq!(Received::from(receipt).relay, Some(RelayId("relay-1".to_owned())));
}

#[tokio::test]
async fn the_same_seed_gives_the_same_faults() {
    let odds = Odds { transient: 200, permanent: 100, lost_answer: 100 };
    let batch: Vec<Entry> = (1..100).map(|number| entry(number, None)).collect();
    let run = async |seed: u64| {
        let sink = sink();
        sink.fail_by_chance(seed, odds);
        deliver(&sink, &batch).await
    };

    let (first, again, other) = (run(1).await, run(1).await, run(2).await);

    assert_eq!(first, again);
    assert_ne!(first, other);
    assert!(first.contains('F') && first.contains('D'));
}

#[tokio::test]
async fn a_failing_log_fails_before_or_after() {
    let log = failing_log().await;
    let relay = RelayId("a".to_owned());
    let take = |n| Act {
        lane: Lane(0),
        n,
        kind: ActKind::Taken,
        cursor: Cursor::default(),
        delivered: 0,
        changes: Vec::new(),
    };
    let last_line = || log.inner().with_store(|store| store.lines("s", Lane(0)).count());

    log.fail(Operation::Append, When::Before, 1);
    let error = log.append("s", &relay, &[take(2)]).await.expect_err("it fails");
    assert_eq!((error.kind(), last_line()), (ErrorKind::Unavailable, 1));

    log.fail(Operation::Append, When::After, 1);
    assert!(log.append("s", &relay, &[take(2)]).await.is_err());
    assert_eq!(last_line(), 2, "only the answer is lost");
    let repeated = log.append("s", &relay, &[take(2)]).await.expect("it can be repeated");
    assert_eq!((repeated, last_line()), (vec![Appended::Done], 2));
    assert_eq!((log.calls(Operation::Append), log.failures(Operation::Append)), (3, 2));
}

#[tokio::test]
async fn a_failing_log_is_down_until_it_comes_up() {
    let log = failing_log().await;

    log.go_down();
    assert!(log.subscribe(&Subscription::new("t")).await.is_err());
    log.come_up();

    assert_eq!(log.inner().with_store(|store| store.subscription_names().count()), 1);
    assert!(log.subscribe(&Subscription::new("t")).await.is_ok());
}

#[tokio::test]
async fn a_failing_log_fails_by_chance_as_its_seed_says() {
    let run = async |seed: u64| {
        let log = failing_log().await;
        log.fail_by_chance(seed, Chance { before: 200, after: 200 });
        let mut outcomes = Vec::new();
        for _ in 0..100 {
            outcomes.push(log.leave(&RelayId("a".to_owned())).await.is_ok());
        }
        outcomes
    };

    let first = run(1).await;
    assert_eq!(first, run(1).await);
    assert!(first.contains(&true) && first.contains(&false));
}

fn sink() -> FlakySink {
    FlakySink::new(ManualClock::default().shared())
}

async fn failing_log() -> FailingLog<MemoryLog> {
    let log = FailingLog::new(MemoryLog::new(4, ManualClock::default().shared()));
    log.subscribe(&Subscription::new("s")).await.expect("nothing fails yet");
    log
}

/// Delivers with time enough, and answers with a letter for each entry: delivered, failed, not sent.
async fn deliver(sink: &FlakySink, batch: &[Entry]) -> String {
    let answers = sink.deliver(batch, Instant::now() + Duration::from_secs(3_600)).await;
    let letters = answers.iter().map(|answer| match answer {
        Delivery::Delivered => "D",
        Delivery::Failed(_) => "F",
        Delivery::NotSent => "N",
    });
    letters.collect::<Vec<_>>().join(" ")
}

fn received(sink: &FlakySink) -> Vec<i64> {
    sink.received().iter().map(|receipt| receipt.position.0).collect()
}

fn id(number: u8) -> EventId {
    EventId::from_bytes([number; 16])
}

fn entry(number: u8, key: Option<&str>) -> Entry {
    let draft = Event::of("tested").bytes("", "text/plain");
    let draft = if let Some(key) = key { draft.key(key) } else { draft };
    let stamp = Stamp { id: id(number), now: Timestamp(0) };
    Entry {
        position: Position(i64::from(number)),
        lane: Lane(0),
        event: draft.build(&EventRules::default(), stamp).expect("a valid event"),
        origin: Origin::Log,
        attempts: 0,
        blocked: false,
        delayed: false,
        defect: None,
    }
}
