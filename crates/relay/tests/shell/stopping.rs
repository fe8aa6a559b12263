//! Stopping, starting again, and crashing.

use std::{sync::Arc, time::Duration};

use posthaste_relay::Stopped;
use posthaste_testkit::{FailingLog, failing_log::Operation};
use tokio::time::Instant;

use crate::{
    stage::{Stage, ids, pass, received, sorted, wait_until},
    traps::{Trap, TrapLog},
};

// pitfalls L29, S12, S19
#[tokio::test(start_paused = true)]
async fn a_stop_waits_for_what_is_on_the_wire_and_the_next_relay_takes_over_at_once() {
    let stage = Stage::new(8);
    let sink = stage.sink();
    let relay = stage.relay(&sink).start().await.unwrap();
    wait_until("all lanes are held", || stage.status().lanes_held == 8).await;
    sink.block();
    stage.publish_many(40, 8).await;
    pass(Duration::from_secs(1)).await;

    let stopping = relay.stop();
    let (stopped, ()) = tokio::join!(stopping, async {
        pass(Duration::from_secs(1)).await;
        sink.release();
    });

    assert_eq!(stopped, Stopped::Cleanly);
    assert!(stage.is_given_back());
    let (began, delivered) = (Instant::now(), sink.received().len());
    let next = stage.relay(&sink).start().await.unwrap();
    received(&sink, 40).await;
    stage.settled().await;
    assert!(began.elapsed() < Duration::from_secs(1), "nobody waits for a lease to end");
    assert!(delivered > 0);
    assert_eq!(sink.received().len(), 40, "and nothing is repeated");
    assert_eq!(next.stop().await, Stopped::Cleanly);
}

// pitfalls S12, S13, S19
#[tokio::test(start_paused = true)]
async fn a_stop_with_a_stuck_sink_ends_when_the_grace_time_is_over() {
    let stage = Stage::new(2);
    let sink = stage.sink();
    sink.block();
    let event = stage.publish("a").await;
    let relay = stage.relay(&sink).start().await.unwrap();
    wait_until("all lanes are held", || stage.status().lanes_held == 2).await;
    pass(Duration::from_millis(100)).await;

    let began = Instant::now();
    assert_eq!(relay.stop().await, Stopped::InTheMiddle);
    assert!(began.elapsed() <= stage.settings.grace + Duration::from_millis(1), "{:?}", began.elapsed());
    sink.release();
    let next = stage.relay(&sink).start().await.unwrap();
    received(&sink, 1).await;

    assert_eq!(sink.count_of(event), 1);
    assert_eq!(next.stop().await, Stopped::Cleanly);
}

// pitfalls S12, S19
#[tokio::test(start_paused = true)]
async fn a_stop_with_nothing_to_do_takes_no_time() {
    let stage = Stage::new(8);
    let relay = stage.relay(&stage.sink()).start().await.unwrap();
    wait_until("all lanes are held", || stage.status().lanes_held == 8).await;

    let began = Instant::now();
    assert_eq!(relay.stop().await, Stopped::Cleanly);

    assert!(began.elapsed() < Duration::from_millis(10), "{:?}", began.elapsed());
}

// pitfalls S12, S19
#[tokio::test(start_paused = true)]
async fn a_stop_ends_also_when_the_log_is_down_or_does_not_answer() {
    let stage = Stage::new(2);
    let log = Arc::new(FailingLog::new(stage.log.clone()));
    let relay = stage.relay_over(Arc::clone(&log) as _, Arc::new(stage.sink())).start().await.unwrap();
    wait_until("all lanes are held", || stage.status().lanes_held == 2).await;
    log.go_down();
    let began = Instant::now();
    assert_eq!(relay.stop().await, Stopped::InTheMiddle);
    assert!(began.elapsed() <= stage.settings.grace + Duration::from_millis(1));

    let log = Arc::new(TrapLog::new(&stage.log));
    let relay = stage.relay_over(Arc::clone(&log) as _, Arc::new(stage.sink())).start().await.unwrap();
    log.set(Operation::Leave, Trap::Hang);
    let began = Instant::now();
    assert_eq!(relay.stop().await, Stopped::Cleanly);
    assert!(log.are_sprung() && began.elapsed() <= stage.settings.grace);
}

// pitfall S12
#[tokio::test(start_paused = true)]
async fn a_relay_can_be_started_and_stopped_again_and_again_in_one_process() {
    let stage = Stage::new(4);
    let sink = stage.sink();

    for round in 1..=10 {
        let relay = stage.relay(&sink).start().await.unwrap();
        stage.publish_many(10, 3).await;
        received(&sink, round * 10).await;
        assert_eq!(relay.stop().await, Stopped::Cleanly, "round {round}");
    }

    assert_eq!(sink.received().len(), 100, "nothing is repeated");
}

// pitfalls S12, L29: the poll that would pass the marks may be as far away as the end of the grace time
#[tokio::test(start_paused = true)]
async fn a_stop_after_hot_deliveries_does_not_wait_for_the_next_poll() {
    let mut stage = Stage::new(1);
    stage.settings.poll_max = Duration::from_secs(10);
    let sink = stage.sink();
    let relay = stage.relay(&sink).start().await.unwrap();
    pass(Duration::from_secs(60)).await;
    let event = stage.publish_silently();
    relay.hot().dispatch(std::slice::from_ref(&event));
    received(&sink, 1).await;

    let began = Instant::now();
    assert_eq!(relay.stop().await, Stopped::Cleanly);

    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
    assert!(stage.last_lines()[0].cursor.has_passed(event.position));
}

// pitfalls L25, S5, S17, D8
#[tokio::test(start_paused = true)]
async fn after_a_crash_another_relay_goes_on_within_a_lease() {
    let stage = Stage::new(4);
    let sink = stage.sink();
    let relay = stage.relay(&sink).start().await.unwrap();
    wait_until("all lanes are held", || stage.status().lanes_held == 4).await;
    sink.block();
    let events = stage.publish_many(20, 4).await;
    pass(Duration::from_millis(100)).await;

    drop(relay);
    sink.release();
    let (crashed, next) = (Instant::now(), stage.relay(&sink).start().await.unwrap());
    received(&sink, 20).await;

    let lease = stage.settings.lease;
    assert!(crashed.elapsed() <= lease + lease / 3 + Duration::from_secs(1), "after {:?}", crashed.elapsed());
    assert_eq!(sorted(ids(&sink)), events);
    assert_eq!(next.stop().await, Stopped::Cleanly);
}
