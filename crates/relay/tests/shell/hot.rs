//! The way from a commit in this process to the sink.

use std::time::Duration;

use posthaste_core::Entry;
use posthaste_relay::Stopped;
use tokio::time::Instant;
use tracing::Level;

use crate::{
    ears::{Lines, Meters},
    stage::{Stage, pass, received, wait_until},
};

// pitfalls D5, D11
#[tokio::test(start_paused = true)]
async fn a_dispatched_event_is_delivered_from_memory_and_only_once() {
    let meters = Meters::default();
    let _measure = metrics::set_default_local_recorder(&meters);
    let stage = Stage::new(4);
    let sink = stage.sink();
    let relay = stage.relay(&sink).start().await.unwrap();
    pass(Duration::from_secs(60)).await;

    let committed = Instant::now();
    let event = stage.publish_silently();
    relay.hot().dispatch(std::slice::from_ref(&event));
    received(&sink, 1).await;
    assert!(committed.elapsed() < Duration::from_millis(5));
    stage.settled().await;
    pass(Duration::from_secs(5)).await;

    assert_eq!(sink.count_of(event.event.id), 1);
    assert_eq!(meters.value("outbox_hot_delivered_total"), 1);
    assert_eq!(relay.stop().await, Stopped::Cleanly);
}

// pitfall O5
#[tokio::test(start_paused = true)]
async fn a_dispatched_event_with_a_key_comes_from_the_log_at_once() {
    let meters = Meters::default();
    let _measure = metrics::set_default_local_recorder(&meters);
    let stage = Stage::new(4);
    let sink = stage.sink();
    let relay = stage.relay(&sink).start().await.unwrap();
    pass(Duration::from_secs(60)).await;

    let committed = Instant::now();
    let event = stage.publish_silently_with("a");
    relay.hot().dispatch(std::slice::from_ref(&event));
    received(&sink, 1).await;

    assert!(committed.elapsed() < Duration::from_millis(5));
    assert_eq!(meters.value("outbox_hot_enqueued_total"), 0);
    assert_eq!(relay.stop().await, Stopped::Cleanly);
}

// pitfalls L5, U8
#[tokio::test(start_paused = true)]
async fn a_full_queue_leaves_events_to_the_log_and_is_counted_and_said_once() {
    let (lines, meters) = (Lines::hear(), Meters::default());
    let _measure = metrics::set_default_local_recorder(&meters);
    let mut stage = Stage::new(4);
    stage.settings.hot_queue = 10;
    let sink = stage.sink();
    let relay = stage.relay(&sink).start().await.unwrap();
    wait_until("all lanes are held", || stage.status().lanes_held == 4).await;

    let mut events: Vec<Entry> = Vec::new();
    for _ in 0..100 {
        events.push(stage.publish_silently());
    }
    // All at once: the pump has no time to take any out.
    relay.hot().dispatch(&events);
    stage.settled().await;

    assert_eq!(meters.value("outbox_hot_dropped_total"), 90);
    assert_eq!(lines.count(Level::WARN, "the hot queue is full"), 1);
    assert_eq!(sink.received().len(), 100, "each is delivered once");
    assert!(events.iter().all(|event| sink.count_of(event.event.id) == 1));
    assert_eq!(relay.stop().await, Stopped::Cleanly);
}

#[tokio::test(start_paused = true)]
async fn an_event_that_finds_the_queue_full_is_read_from_the_log_at_once() {
    let mut stage = Stage::new(1);
    stage.settings.hot_queue = 1;
    let sink = stage.sink();
    let relay = stage.relay(&sink).start().await.unwrap();
    pass(Duration::from_secs(60)).await;

    let events = [stage.publish_silently(), stage.publish_silently()];
    let committed = Instant::now();
    relay.hot().dispatch(&events);
    received(&sink, 2).await;

    assert!(committed.elapsed() < Duration::from_millis(5), "{:?}", committed.elapsed());
    assert_eq!(relay.stop().await, Stopped::Cleanly);
}

// pitfall D11
#[tokio::test(start_paused = true)]
async fn many_dispatched_events_under_load_are_each_delivered_once() {
    let stage = Stage::new(4);
    let sink = stage.sink();
    let relay = stage.relay(&sink).start().await.unwrap();
    let hot = relay.hot();

    for _ in 0..200 {
        let event = stage.publish_silently();
        hot.dispatch(std::slice::from_ref(&event));
        stage.publish("a").await;
        pass(Duration::from_millis(1)).await;
    }
    stage.settled().await;

    assert_eq!(sink.received().len(), 400);
    assert_eq!(relay.stop().await, Stopped::Cleanly);
    assert!(hot.is_closed());
    hot.dispatch(&[stage.publish_silently()]);
    hot.ring();
}
