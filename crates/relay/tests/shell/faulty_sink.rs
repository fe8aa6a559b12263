//! Nothing a sink does can hurt the relay, or events that have nothing to do with it.

use std::{sync::Arc, time::Duration};

use posthaste_core::{DeadReason, Entry, EventId, Fault, Lane, RetryPolicy, Sink, Subscription};
use posthaste_relay::{RelayBuilder, Stopped};
use posthaste_testkit::flaky::Promise;
use tokio::time::Instant;

use crate::{
    stage::{NAME, Stage, draft, ids, pass, received, sorted, wait_until},
    traps::{HangingSink, RashSink},
};

// pitfalls L9, S1, S18
#[tokio::test(start_paused = true)]
async fn an_event_that_makes_the_sink_panic_is_a_dead_letter_and_the_others_are_delivered() {
    let stage = Stage::new(2);
    let sink = stage.sink();
    let events = stage.publish_many(20, 5).await;
    sink.panic_on(events[7], u32::MAX);
    let relay = stage.relay(&sink).start().await.unwrap();

    stage.settled().await;
    let later = stage.publish("later").await;
    stage.settled().await;

    let others: Vec<EventId> = events.iter().copied().filter(|id| *id != events[7]).chain([later]).collect();
    assert_eq!(sorted(ids(&sink)), others);
    let dead = stage.dead();
    assert_eq!((dead.len(), dead[0].id, dead[0].reason), (1, events[7], DeadReason::PoisonMessage));
    assert_eq!(relay.stop().await, Stopped::Cleanly);
}

// pitfalls L9, S18
#[tokio::test(start_paused = true)]
async fn a_sink_that_panics_before_it_returns_a_future_is_caught_as_well() {
    let stage = Stage::new(1);
    let inner = stage.sink();
    let events = stage.publish_many(3, 3).await;
    let sink = RashSink { inner: inner.clone(), on: events[1] };
    let relay = stage.relay_over(Arc::new(stage.log.clone()), Arc::new(sink)).start().await.unwrap();

    stage.settled().await;

    assert_eq!(stage.dead()[0].reason, DeadReason::PoisonMessage);
    assert_eq!(sorted(ids(&inner)), [events[0], events[2]]);
    assert_eq!(relay.stop().await, Stopped::Cleanly);
}

// pitfalls L9, S18
#[tokio::test(start_paused = true)]
async fn a_sink_that_panics_when_it_is_pinged_is_pinged_again() {
    let stage = Stage::new(1);
    let inner = stage.sink();
    inner.go_down();
    let sink = RashSink { inner: inner.clone(), on: EventId::from_bytes([0; 16]) };
    stage.publish("a").await;
    let relay = stage.relay_over(Arc::new(stage.log.clone()), Arc::new(sink)).start().await.unwrap();

    pass(Duration::from_secs(60)).await;

    assert_eq!((stage.status().pending, stage.dead().len()), (1, 0), "it waits, and the relay lives");
    assert_eq!(relay.stop().await, Stopped::Cleanly);
}

/// A key whose events are not in this lane.
async fn key_outside(lane: Lane, lanes: u8) -> String {
    let scratch = Stage::new(lanes);
    let mut number = 0;
    loop {
        let key = format!("k{number}");
        if scratch.publish_event(draft().key(key.as_str())).await.lane != lane {
            return key;
        }
        number += 1;
    }
}

// pitfalls S4, S13, L25
#[tokio::test(start_paused = true)]
async fn a_sink_that_hangs_on_one_event_is_given_up_after_its_time_and_the_others_go_on() {
    let stage = Stage::new(8);
    let inner = stage.sink();
    let Entry { lane, event: stuck, .. } = stage.publish_event(draft().key("stuck")).await;
    let sink: Arc<dyn Sink> = Arc::new(HangingSink { inner: inner.clone(), on: stuck.id });
    let retry = RetryPolicy { max_attempts: 2, ..RetryPolicy::default() };
    let subscription = Subscription { retry, ..Subscription::new(NAME) };
    let builder = RelayBuilder::new(Arc::new(stage.log.clone())).subscribe(subscription, sink);
    let (relay, other) = (builder.start().await.unwrap(), key_outside(lane, 8).await);

    let (mut delivered, mut slowest) = (0, Duration::ZERO);
    while stage.dead().is_empty() {
        let committed = Instant::now();
        stage.publish(&other).await;
        delivered += 1;
        received(&inner, delivered).await;
        slowest = slowest.max(committed.elapsed());
        pass(Duration::from_millis(100)).await;
    }

    assert!(slowest < Duration::from_secs(1), "the others waited for {slowest:?}");
    assert_eq!((stage.dead()[0].id, inner.count_of(stuck.id)), (stuck.id, 0));
    assert_eq!(relay.stop().await, Stopped::Cleanly);
}

// pitfalls L3, L4, L9
#[tokio::test(start_paused = true)]
async fn an_event_whose_acknowledgement_is_lost_is_sent_again() {
    let stage = Stage::new(1);
    let sink = stage.sink();
    let event = stage.publish("a").await;
    sink.lose_answer(event, 2, Fault::timeout("no answer"));
    let relay = stage.relay(&sink).start().await.unwrap();

    stage.settled().await;

    assert_eq!((sink.count_of(event), stage.dead().len()), (3, 0));
    assert_eq!(relay.stop().await, Stopped::Cleanly);
}

// pitfalls L31, B10
#[tokio::test(start_paused = true)]
async fn an_hour_of_outage_costs_no_attempt_and_few_pings() {
    let stage = Stage::new(4);
    let sink = stage.sink();
    sink.go_down();
    let events = stage.publish_many(100, 10).await;
    let relay = stage.relay(&sink).start().await.unwrap();

    pass(Duration::from_secs(3_600)).await;
    assert!((200..300).contains(&sink.pings()), "{} pings", sink.pings());
    sink.come_up();
    received(&sink, 100).await;
    stage.settled().await;

    assert_eq!((sorted(ids(&sink)), stage.dead().len()), (events, 0));
    assert!(sink.received().iter().all(|receipt| receipt.attempts == 0));
    assert_eq!(relay.stop().await, Stopped::Cleanly);
}

// pitfalls O1, O10
#[tokio::test(start_paused = true)]
async fn a_sink_that_cannot_keep_the_order_of_a_key_keeps_it_all_the_same() {
    let stage = Stage::new(1);
    let sink = stage.sink();
    sink.promise(Promise::NotMade);
    let events = stage.publish_many(6, 1).await;
    sink.fail(events[1], 2, Fault::transient("not now"));
    let relay = stage.relay(&sink).start().await.unwrap();

    received(&sink, 6).await;

    assert_eq!(ids(&sink), events);
    assert_eq!(relay.stop().await, Stopped::Cleanly);
}

// pitfalls S22, O7
#[tokio::test(start_paused = true)]
async fn a_failed_event_is_tried_again_without_a_restart_and_its_key_waits() {
    let stage = Stage::new(4);
    let sink = stage.sink();
    let events = stage.publish_many(6, 2).await;
    sink.fail(events[0], 5, Fault::transient("not now"));
    let relay = stage.relay(&sink).start().await.unwrap();

    received(&sink, 6).await;

    let of_its_key: Vec<EventId> =
        ids(&sink).into_iter().filter(|id| events.iter().step_by(2).any(|e| e == id)).collect();
    assert_eq!(of_its_key, [events[0], events[2], events[4]]);
    wait_until("it is settled", || stage.status().failed == 0).await;
    assert_eq!(relay.stop().await, Stopped::Cleanly);
}
