//! What operators do reaches a running relay, and what is no longer needed goes.

use std::time::Duration;

use posthaste_core::{Admin, DeadFilter, Fault, Inspect, OperatorAct, ResetTo};
use posthaste_relay::Stopped;
use tokio::time::Instant;

use crate::stage::{NAME, Stage, draft, ids, pass, received, wait_until};

#[tokio::test(start_paused = true)]
async fn a_paused_subscription_stops_and_goes_on_when_it_is_resumed() {
    let stage = Stage::new(4);
    let sink = stage.sink();
    let relay = stage.relay(&sink).start().await.unwrap();
    stage.publish("a").await;
    received(&sink, 1).await;

    stage.log.act(&OperatorAct::Pause(NAME.to_owned()), "ada").await.unwrap();
    let paused = Instant::now();
    wait_until("its lanes are given back", || stage.is_given_back()).await;
    assert!(paused.elapsed() < Duration::from_secs(1), "not only at the next renewal");
    stage.publish("a").await;
    pass(Duration::from_secs(120)).await;
    assert_eq!(sink.received().len(), 1);
    stage.log.act(&OperatorAct::Resume(NAME.to_owned()), "ada").await.unwrap();
    received(&sink, 2).await;

    stage.settled().await;
    assert_eq!(relay.stop().await, Stopped::Cleanly);
}

#[tokio::test(start_paused = true)]
async fn a_reset_while_it_is_paused_delivers_everything_again() {
    let stage = Stage::new(4);
    let sink = stage.sink();
    let relay = stage.relay(&sink).start().await.unwrap();
    let events = stage.publish_many(5, 1).await;
    received(&sink, 5).await;

    stage.log.act(&OperatorAct::Pause(NAME.to_owned()), "ada").await.unwrap();
    wait_until("its lanes are given back", || stage.is_given_back()).await;
    let reset = OperatorAct::Reset { subscription: NAME.to_owned(), to: ResetTo::Beginning };
    stage.log.act(&reset, "ada").await.unwrap();
    stage.log.act(&OperatorAct::Resume(NAME.to_owned()), "ada").await.unwrap();
    received(&sink, 10).await;

    assert_eq!(ids(&sink)[5..], events);
    stage.settled().await;
    assert_eq!(relay.stop().await, Stopped::Cleanly);
}

// pitfalls O15, C9
#[tokio::test(start_paused = true)]
async fn dead_letters_that_are_replayed_are_delivered_soon_and_in_order() {
    let stage = Stage::new(4);
    let sink = stage.sink();
    let events = stage.publish_many(5, 1).await;
    for event in &events {
        sink.fail(*event, 1, Fault::permanent("never"));
    }
    let relay = stage.relay(&sink).start().await.unwrap();
    wait_until("all are dead", || stage.dead().len() == 5).await;
    pass(Duration::from_secs(60)).await;

    let all = stage.log.dead(&DeadFilter::default()).await.unwrap().items;
    let all = all.iter().map(|letter| letter.dead_id).collect();
    stage.log.act(&OperatorAct::Replay(all), "ada").await.unwrap();
    let asked = Instant::now();
    received(&sink, 5).await;

    assert!(asked.elapsed() < Duration::from_millis(100), "{:?}", asked.elapsed());
    assert_eq!(ids(&sink), events);
    assert_eq!(relay.stop().await, Stopped::Cleanly);
}

// pitfalls O9, D14
#[tokio::test(start_paused = true)]
async fn a_delayed_event_comes_when_it_is_due_and_once() {
    let stage = Stage::new(4);
    let sink = stage.sink();
    let relay = stage.relay(&sink).start().await.unwrap();
    let due = stage.clock.now() + Duration::from_secs(90);
    let event = stage.publish_event(draft().key("a").deliver_in(Duration::from_secs(90))).await;
    stage.publish("a").await;

    received(&sink, 2).await;
    pass(Duration::from_secs(10)).await;

    let receipts = sink.received();
    assert_eq!((receipts.len(), receipts[1].id), (2, event.event.id));
    let late = receipts[1].at.since(due);
    assert!(receipts[1].at >= due && late < Duration::from_millis(50), "{late:?} late");
    assert_eq!(relay.stop().await, Stopped::Cleanly);
}

// pitfalls C2, C3, C4
#[tokio::test(start_paused = true)]
async fn what_is_settled_and_old_is_pruned_and_pruning_keeps_up() {
    let mut stage = Stage::new(4);
    stage.settings.retention.events = Duration::from_secs(30);
    stage.settings.retention.step = 10;
    let sink = stage.sink();
    let relay = stage.relay(&sink).start().await.unwrap();
    stage.publish_many(500, 20).await;
    stage.settled().await;

    // A step takes ten; they follow each other without waiting for the next minute.
    pass(Duration::from_secs(100)).await;

    assert_eq!(stage.log.with_store(|store| store.status(stage.clock.now()).events), 0);
    assert_eq!(relay.stop().await, Stopped::Cleanly);
}

// pitfall C1
#[tokio::test(start_paused = true)]
async fn what_is_not_settled_is_never_pruned() {
    let mut stage = Stage::new(4);
    stage.settings.retention.events = Duration::from_secs(1);
    let sink = stage.sink();
    sink.go_down();
    let relay = stage.relay(&sink).start().await.unwrap();
    let events = stage.publish_many(50, 5).await;

    pass(Duration::from_secs(600)).await;
    sink.come_up();
    received(&sink, 50).await;

    assert_eq!(crate::stage::sorted(ids(&sink)), events);
    assert_eq!(relay.stop().await, Stopped::Cleanly);
}
