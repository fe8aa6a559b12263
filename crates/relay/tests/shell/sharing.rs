//! Several relays share the lanes.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use posthaste_core::{Fault, RelayId, Subscription};
use posthaste_relay::{RelayBuilder, Stopped};
use posthaste_testkit::failing_log::Operation;
use tokio::time::Instant;

use crate::{
    stage::{NAME, Stage, ids, pass, sorted, wait_until},
    traps::{Trap, TrapLog, UntilSink},
};

/// Who holds how many lanes.
fn holders(stage: &Stage) -> Vec<usize> {
    let lines = stage.last_lines();
    let holding = lines.iter().filter(|line| line.kind.holds()).filter_map(|line| line.relay.clone());
    let holding: Vec<RelayId> = holding.collect();
    let relays: BTreeSet<&RelayId> = holding.iter().collect();
    relays.iter().map(|relay| holding.iter().filter(|holder| holder == relay).count()).collect()
}

// pitfalls D1, D2, O4, O18
#[tokio::test(start_paused = true)]
async fn two_relays_share_the_lanes_and_repeat_nothing() {
    let stage = Stage::new(8);
    let sink = stage.sink();
    let first = stage.relay(&sink.used_by("first")).start().await.unwrap();
    let mut published = stage.publish_many(100, 20).await;
    wait_until("the first has all lanes", || holders(&stage) == [8]).await;
    let second = stage.relay(&sink.used_by("second")).start().await.unwrap();

    while holders(&stage) != [4, 4] {
        published.extend(stage.publish_many(10, 20).await);
        pass(Duration::from_millis(100)).await;
    }
    published.extend(stage.publish_many(100, 20).await);
    stage.settled().await;
    let helped = sink.received().iter().filter(|receipt| receipt.relay == "second").count();

    assert_eq!((sink.received().len(), sorted(ids(&sink))), (published.len(), published));
    assert!(helped > 20, "the second delivered {helped}");
    assert_eq!(second.stop().await, Stopped::Cleanly);
    assert_eq!(first.stop().await, Stopped::Cleanly);
}

// pitfalls S5, S17
#[tokio::test(start_paused = true)]
async fn the_lanes_of_a_relay_that_stops_are_with_the_other_soon() {
    let stage = Stage::new(8);
    let sink = stage.sink();
    let (first, second) =
        (stage.relay(&sink).start().await.unwrap(), stage.relay(&sink).start().await.unwrap());
    wait_until("both have their share", || holders(&stage) == [4, 4]).await;

    assert_eq!(first.stop().await, Stopped::Cleanly);
    let stopped = Instant::now();
    wait_until("the other has all", || holders(&stage) == [8]).await;

    assert!(
        stopped.elapsed() <= stage.settings.lease / 3 + Duration::from_secs(1),
        "{:?}",
        stopped.elapsed()
    );
    assert_eq!(second.stop().await, Stopped::Cleanly);
}

// pitfalls D12, D13
#[tokio::test(start_paused = true)]
async fn three_relays_try_a_failing_event_no_more_often_than_one() {
    let mut tries = Vec::new();
    for relays in [1, 3] {
        let stage = Stage::new(8);
        let sink = stage.sink();
        let event = stage.publish("a").await;
        sink.fail_always(event, Fault::transient("not now"));
        let mut running = Vec::new();
        for _ in 0..relays {
            running.push(stage.relay(&sink).start().await.unwrap());
        }
        wait_until("it is a dead letter", || stage.dead().len() == 1).await;
        tries.push(sink.own_failures(event));
        for relay in running {
            _ = relay.stop().await;
        }
    }

    assert_eq!(tries, [10, 10]);
}

#[tokio::test(start_paused = true)]
async fn a_relay_knows_whether_it_is_the_only_one() {
    let stage = Stage::new(8);
    let (sink, log) = (stage.sink(), Arc::new(TrapLog::new(&stage.log)));
    let first = stage.relay_over(Arc::clone(&log) as _, Arc::new(sink.clone())).start().await.unwrap();
    let pulse = first.pulse();
    assert!(!pulse.is_alone(), "it knows nothing yet");
    wait_until("it has its lease", || pulse.is_alone()).await;

    let other = RelayBuilder::new(Arc::new(stage.log.clone()));
    let other = other.subscribe(Subscription::new("another"), Arc::new(sink.clone())).start().await.unwrap();
    wait_until("it has noticed one that serves something else", || !pulse.is_alone()).await;
    assert_eq!(other.stop().await, Stopped::Cleanly);
    wait_until("it has noticed that the other is gone", || pulse.is_alone()).await;

    // Two renewals that nobody answers outlast the lease: others may have come.
    log.set(Operation::Hold, Trap::Hang);
    log.set(Operation::Hold, Trap::Hang);
    wait_until("its lease may be over", || !pulse.is_alone()).await;
    wait_until("it has renewed its lease", || pulse.is_alone()).await;

    assert_eq!(first.stop().await, Stopped::Cleanly);
    assert!(!pulse.is_alone(), "it is gone");
}

// pitfalls D1, D10: the log counts the lease from when it was asked for, not from when the answer arrives
#[tokio::test(start_paused = true)]
async fn a_slow_renewal_leaves_less_time_to_send() {
    let stage = Stage::new(1);
    let (sink, log) = (Arc::new(UntilSink::default()), Arc::new(TrapLog::new(&stage.log)));
    log.set(Operation::Hold, Trap::Slow(Duration::from_secs(4)));
    stage.publish("a").await;

    let asked = Instant::now();
    let relay = stage.relay_over(log, Arc::clone(&sink) as _).start().await.unwrap();
    stage.settled().await;

    let until = sink.0.lock().unwrap()[0];
    assert_eq!(until, (asked + stage.settings.sending_time()).into_std());
    assert_eq!(relay.stop().await, Stopped::Cleanly);
}

// pitfalls D3, D4
#[tokio::test(start_paused = true)]
async fn a_relay_whose_sink_is_busy_for_long_keeps_its_lease() {
    let stage = Stage::new(4);
    let sink = stage.sink();
    let relay = stage.relay(&sink).start().await.unwrap();
    wait_until("all lanes are held", || stage.status().lanes_held == 4).await;
    let me = relay.id();
    sink.block();
    stage.publish_many(40, 8).await;

    pass(stage.settings.lease * 5).await;
    sink.release();
    stage.settled().await;

    assert_eq!(relay.id(), me, "no new id was needed");
    let by: BTreeSet<_> = stage.last_lines().into_iter().filter_map(|line| line.relay).collect();
    assert_eq!(by.into_iter().collect::<Vec<_>>(), [me.unwrap()]);
    assert_eq!(stage.log.with_store(|store| store.subscription_names().count()), 1, "{NAME}");
    assert_eq!(relay.stop().await, Stopped::Cleanly);
}
