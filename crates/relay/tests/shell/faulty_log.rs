//! A log that fails, panics or never answers costs time, and nothing else.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use posthaste_core::{ActKind, Change, Fault, Lane};
use posthaste_relay::Stopped;
use posthaste_testkit::{
    FailingLog, FlakySink,
    failing_log::{Chance, Operation},
};
use tokio::sync::watch;
use tracing::Level;

use crate::{
    ears::{Lines, Meters},
    stage::{NAME, Stage, draft, ids, pass, received, sorted, wait_until},
    traps::{GatedSink, Trap, TrapLog},
};

// pitfalls L30, S35, U8, B10
#[tokio::test(start_paused = true)]
async fn a_log_that_is_down_for_ten_minutes_is_waited_for_without_a_flood() {
    let (lines, meters) = (Lines::hear(), Meters::default());
    let _measure = metrics::set_default_local_recorder(&meters);
    let stage = Stage::new(4);
    let (sink, log) = (stage.sink(), Arc::new(FailingLog::new(stage.log.clone())));
    let first = stage.publish_many(50, 5).await;
    let relay = stage.relay_over(Arc::clone(&log) as _, Arc::new(sink.clone())).start().await.unwrap();
    received(&sink, 50).await;

    log.go_down();
    let second = stage.publish_many(50, 5).await;
    pass(Duration::from_secs(600)).await;
    let failures =
        [Operation::Read, Operation::Append, Operation::Hold].map(|operation| log.failures(operation));
    let said = lines.count(Level::ERROR, "the log does not answer");
    log.come_up();
    received(&sink, 100).await;
    stage.settled().await;

    assert!(failures.iter().sum::<u64>() < 2_500, "{failures:?} reads, appends and renewals in ten minutes");
    assert!((1..=200).contains(&said), "{said} lines in ten minutes");
    assert!(meters.value("outbox_loop_errors_total") >= failures.iter().sum(), "each is counted");
    assert!(lines.count(Level::INFO, "the log answers again") > 0);
    assert_eq!(sorted(ids(&sink)), [first, second].concat());
    assert_eq!(relay.stop().await, Stopped::Cleanly);
}

// pitfalls S14, L28, U8: a constraint, or a trigger, that does not like one row
#[tokio::test(start_paused = true)]
async fn a_row_that_the_database_refuses_stops_its_lane_and_is_said_with_it() {
    let (lines, meters) = (Lines::hear(), Meters::default());
    let _measure = metrics::set_default_local_recorder(&meters);
    let stage = Stage::new(4);
    let (sink, log) = (stage.sink(), Arc::new(FailingLog::new(stage.log.clone())));
    log.refuse(Some(|act| act.changes.iter().any(|change| matches!(change, Change::Bury(_)))));
    let relay = stage.relay_over(Arc::clone(&log) as _, Arc::new(sink.clone())).start().await.unwrap();
    let bad = stage.publish_event(draft().key("bad")).await;
    sink.fail_always(bad.event.id, Fault::permanent("never"));

    let mut healthy = 0;
    for _ in 0..10 {
        for number in 0..40 {
            let lane = stage.publish_event(draft().key(format!("k{}", number % 20))).await.lane;
            healthy += u64::from(lane != bad.lane);
        }
        wait_until("the other lanes are settled", || stage.status().delivered == healthy).await;
        pass(Duration::from_secs(60)).await;
    }
    assert_eq!(stage.dead().len(), 0);
    let said = lines.count(Level::ERROR, "the database refuses what became of a lane");
    assert!((1..=100).contains(&said), "{said} lines in ten minutes");
    assert!(lines.count(Level::ERROR, "refused on purpose by a rule") > 0, "with what the database says");
    assert_eq!(lines.count(Level::ERROR, "the log does not answer"), 0, "it does");
    assert!(meters.value("outbox_loop_errors_total") > 10, "each is counted");

    log.refuse(None);
    stage.settled().await;
    assert_eq!(stage.dead().len(), 1);
    assert_eq!(sink.received().len(), 400, "everything else was delivered, once");
    assert_eq!(relay.stop().await, Stopped::Cleanly);
}

// pitfalls L28, D17, D25, D20
#[tokio::test(start_paused = true)]
async fn answers_that_are_lost_by_chance_lose_nothing_and_break_no_order() {
    for seed in 0..10 {
        let stage = Stage::new(4);
        let (sink, log) = (stage.sink(), Arc::new(FailingLog::new(stage.log.clone())));
        let relay = stage.relay_over(Arc::clone(&log) as _, Arc::new(sink.clone())).start().await.unwrap();
        log.fail_by_chance(seed, Chance { before: 150, after: 150 });

        let mut events = Vec::new();
        for _ in 0..20 {
            events.extend(stage.publish_many(10, 5).await);
            pass(Duration::from_millis(300)).await;
        }
        log.fail_by_chance(seed, Chance::default());
        stage.settled().await;

        assert_eq!(sorted(ids(&sink)), events, "seed {seed}");
        assert_first_deliveries_in_order(&sink);
        assert_eq!(relay.stop().await, Stopped::Cleanly);
    }
}

/// Repeats may come late; the first delivery of each event comes after those of its key before it.
fn assert_first_deliveries_in_order(sink: &FlakySink) {
    let mut last = BTreeMap::new();
    let mut seen = std::collections::BTreeSet::new();
    for receipt in sink.received() {
        if seen.insert(receipt.id) {
            let before = last.insert(receipt.key.clone(), receipt.position);
            assert!(before.is_none_or(|before| before < receipt.position), "{receipt:?} after {before:?}");
        }
    }
}

/// Everything arrives although the next call of the operation falls into the trap.
async fn survives(operation: Operation, trap: Trap) {
    let told = format!("{operation:?}, {trap:?}");
    let stage = Stage::new(4);
    let (sink, log) = (stage.sink(), Arc::new(TrapLog::new(&stage.log)));
    let relay = stage.relay_over(Arc::clone(&log) as _, Arc::new(sink.clone())).start().await.unwrap();
    stage.publish("a").await;
    received(&sink, 1).await;
    stage.settled().await;

    log.set(operation, trap);
    stage.publish_many(20, 5).await;
    wait_until("somebody falls into the trap", || log.are_sprung()).await;
    // Long enough for a lease that nobody renews to end.
    pass(stage.settings.lease * 4).await;
    stage.publish_many(20, 5).await;
    stage.settled().await;

    assert_eq!(sorted(ids(&sink)).len(), 41, "{told}");
    assert_first_deliveries_in_order(&sink);
    assert_eq!(relay.stop().await, Stopped::Cleanly, "{told}");
}

// pitfalls S18, L25
#[tokio::test(start_paused = true)]
async fn a_pump_whose_log_panics_is_started_anew() {
    for operation in [Operation::Read, Operation::Append] {
        survives(operation, Trap::Panic).await;
    }
}

// pitfall S18: the panic must not be overlooked among deliveries that come back at the same moment
#[tokio::test(start_paused = true)]
async fn a_panic_is_noticed_also_when_other_tasks_end_with_it() {
    let stage = Stage::new(4);
    let (inner, log) = (stage.sink(), Arc::new(TrapLog::new(&stage.log)));
    let (open, gate) = watch::channel(true);
    let sink = GatedSink { inner: inner.clone(), gate: gate.clone() };
    let relay = stage.relay_over(Arc::clone(&log) as _, Arc::new(sink)).start().await.unwrap();
    wait_until("all lanes are held", || stage.status().lanes_held == 4).await;
    open.send_replace(false);
    stage.publish_many(20, 10).await;
    pass(Duration::from_secs(1)).await;

    log.set(Operation::Read, Trap::PanicBehind(gate));
    wait_until("somebody falls into the trap", || log.are_sprung()).await;
    open.send_replace(true);
    pass(Duration::from_secs(5)).await;
    stage.publish_many(20, 10).await;

    stage.settled().await;
    assert_eq!(sorted(ids(&inner)).len(), 40);
    assert_eq!(relay.stop().await, Stopped::Cleanly);
}

// pitfalls S18, D3
#[tokio::test(start_paused = true)]
async fn a_renewal_that_panics_is_tried_again_under_the_same_id() {
    survives(Operation::Hold, Trap::Panic).await;
}

// pitfalls S10, S13, S27: such as a connection that a firewall has forgotten
#[tokio::test(start_paused = true)]
async fn a_log_that_never_answers_is_asked_again() {
    for operation in [Operation::Read, Operation::Append, Operation::Hold] {
        survives(operation, Trap::Hang).await;
    }
}

// pitfalls S18, C3
#[tokio::test(start_paused = true)]
async fn pruning_that_panics_goes_on() {
    let mut stage = Stage::new(4);
    stage.settings.retention.events = Duration::from_secs(1);
    let (sink, log) = (stage.sink(), Arc::new(TrapLog::new(&stage.log)));
    log.set(Operation::Prune, Trap::Panic);
    let relay = stage.relay_over(Arc::clone(&log) as _, Arc::new(sink.clone())).start().await.unwrap();

    stage.publish_many(10, 5).await;
    wait_until("events are pruned", || {
        stage.log.with_store(|store| store.status(stage.clock.now()).events) == 0
    })
    .await;

    assert!(log.are_sprung());
    assert_eq!(relay.stop().await, Stopped::Cleanly);
}

// pitfalls L13, L16: a lane without a line is never taken for one that begins now
#[tokio::test(start_paused = true)]
async fn a_lane_that_has_lost_its_lines_is_complained_of_and_nothing_is_skipped() {
    let lines = Lines::hear();
    let stage = Stage::new(2);
    let sink = stage.sink();
    let relay = stage.relay(&sink).start().await.unwrap();
    stage.publish_many(4, 4).await;
    received(&sink, 4).await;
    assert_eq!(relay.stop().await, Stopped::Cleanly);

    stage.log.with_store(|store| store.lose_lines(NAME, Lane(1)));
    let relay = stage.relay(&sink).start().await.unwrap();
    stage.publish_many(4, 4).await;
    pass(Duration::from_secs(60)).await;

    assert_eq!(sink.received().len(), 4, "nobody knows where to begin");
    assert!(lines.count(Level::ERROR, "lane 1 of subscription") > 0);
    assert_eq!(relay.stop().await, Stopped::Cleanly);
}

// pitfalls D1, S5, S6
#[tokio::test(start_paused = true)]
async fn a_relay_whose_lease_was_lost_starts_again_under_a_new_id() {
    let stage = Stage::new(4);
    let sink = stage.sink();
    let relay = stage.relay(&sink).start().await.unwrap();
    stage.publish("a").await;
    received(&sink, 1).await;
    let before = relay.id().unwrap();

    stage.log.with_store(|store| store.leave(&before));
    wait_until("it has another id", || relay.id().unwrap() != before).await;
    stage.publish("a").await;
    received(&sink, 2).await;

    stage.settled().await;
    let now = relay.id();
    for lane in (0..4).map(Lane) {
        let lines = stage.log.with_store(|store| store.lines(NAME, lane).cloned().collect::<Vec<_>>());
        let first = lines.iter().find(|line| line.relay == now).unwrap();
        assert_eq!(first.kind, ActKind::Taken, "what was held under the old id is held no more");
    }
    assert_eq!(relay.stop().await, Stopped::Cleanly);
}
