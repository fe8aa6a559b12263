//! The good case, and one subscription beside another.

use std::{sync::Arc, time::Duration};

use posthaste_core::{EventId, Subscription};
use posthaste_relay::{RelayBuilder, Settings, Stopped};
use tokio::time::Instant;

use crate::stage::{NAME, Stage, ids, pass, received, sorted, wait_until};

// pitfalls D21, O1, O18
#[tokio::test(start_paused = true)]
async fn everything_is_delivered_once_and_each_key_in_order() {
    let stage = Stage::new(8);
    let sink = stage.sink();
    let before = stage.publish_many(300, 10).await;
    let relay = stage.relay(&sink).start().await.unwrap();

    let after = stage.publish_many(300, 10).await;
    received(&sink, 600).await;
    stage.settled().await;

    assert_eq!(relay.stop().await, Stopped::Cleanly);
    let published: Vec<EventId> = before.into_iter().chain(after).collect();
    assert_eq!((sink.received().len(), sorted(ids(&sink))), (600, published));
    for number in 0..10 {
        let key = format!("k{number}");
        let receipts = sink.received().into_iter().filter(|receipt| receipt.key.as_ref() == Some(&key));
        assert!(receipts.map(|receipt| receipt.position).is_sorted(), "{key}");
    }
}

// pitfall S21
#[tokio::test(start_paused = true)]
async fn a_commit_rings_and_is_delivered_at_once() {
    let stage = Stage::new(8);
    let sink = stage.sink();
    let relay = stage.relay(&sink).start().await.unwrap();
    pass(Duration::from_secs(60)).await;

    let committed = Instant::now();
    stage.publish("a").await;
    received(&sink, 1).await;

    assert!(committed.elapsed() < Duration::from_millis(5), "after {:?}", committed.elapsed());
    _ = relay.stop().await;
}

// pitfalls S2, D26
#[tokio::test(start_paused = true)]
async fn a_subscription_whose_destination_is_down_does_not_delay_another() {
    let stage = Stage::new(8);
    let (well, down) = (stage.sink(), stage.sink());
    down.go_down();
    let builder = stage.relay(&well).subscribe(Subscription::new("down"), Arc::new(down.clone()));
    let relay = builder.start().await.unwrap();

    let mut slowest = Duration::ZERO;
    for number in 1..=300 {
        let committed = Instant::now();
        stage.publish("a").await;
        received(&well, number).await;
        slowest = slowest.max(committed.elapsed());
        pass(Duration::from_secs(1)).await;
    }
    assert!(slowest < Duration::from_millis(20), "one took {slowest:?}");
    assert!(down.received().is_empty());
    down.come_up();
    received(&down, 300).await;

    assert_eq!(ids(&well), ids(&down));
    assert_eq!(relay.stop().await, Stopped::Cleanly);
}

// pitfalls S18, U1
#[tokio::test(start_paused = true)]
async fn a_relay_that_finds_nothing_keeps_looking() {
    let stage = Stage::new(4);
    let sink = stage.sink();
    let relay = stage.relay(&sink).start().await.unwrap();
    pass(Duration::from_secs(3_600)).await;

    stage.publish("a").await;

    received(&sink, 1).await;
    wait_until("it is settled", || stage.status().delivered == 1).await;
    _ = relay.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_relay_that_is_put_together_wrongly_does_not_start_and_says_why() {
    let stage = Stage::new(4);
    let sink = stage.sink();
    let wrong = Settings { batch: 0, ..Settings::default() };
    let cases = [
        (RelayBuilder::new(Arc::new(stage.log.clone())), "at least one subscription"),
        (stage.relay(&sink).settings(wrong), "batch is 0"),
        (stage.relay(&sink).subscribe(Subscription::new(NAME), Arc::new(sink.clone())), "is there twice"),
        (stage.relay(&sink).subscribe(Subscription::new("no spaces"), Arc::new(sink.clone())), "no spaces"),
    ];

    for (builder, expected) in cases {
        let message = builder.start().await.err().unwrap().to_string();
        assert!(message.contains(expected), "{message}");
    }
}
