//! What a relay measures.

use std::{sync::Arc, time::Duration};

use posthaste_core::{
    Admin, DeadFilter, Fault, Filter, JobKind, JobRequest, OperatorAct, Pattern, RetryPolicy, Subscription,
};
use posthaste_relay::{RelayBuilder, Settings, Stopped, metric};
use posthaste_testkit::{
    FailingLog,
    failing_log::{Operation, When},
};

use crate::{
    ears::Meters,
    stage::{NAME, Stage, draft, pass, wait_until},
};

/// Published by the application, and not by the relay; and what needs a second relay to happen.
const NOT_OF_A_SINGLE_RELAY: [&str; 2] = ["events_published_total", "fenced_settlements_total"];

// pitfalls U2, U3, L30
#[tokio::test(start_paused = true)]
async fn a_run_with_every_kind_of_trouble_feeds_every_metric() {
    let meters = Meters::default();
    let _measure = metrics::set_default_local_recorder(&meters);
    let mut stage = Stage::new(4);
    stage.settings.hot_queue = 1;
    stage.settings.retention.events = Duration::from_secs(1);
    let (sink, log) = (stage.sink(), Arc::new(FailingLog::new(stage.log.clone())));
    let relay = troubled(&stage, &sink, &log).start().await.unwrap();

    cause_trouble(&stage, &sink).await;
    log.fail(Operation::Read, When::Before, 1);
    relay.hot().dispatch(&[stage.publish_silently(), stage.publish_silently()]);
    stage.settled().await;
    pass(Duration::from_secs(120)).await;
    assert_eq!(relay.stop().await, Stopped::Cleanly);

    let missing: Vec<&str> = metric::ALL
        .iter()
        .map(|(name, _, _)| *name)
        .filter(|name| !NOT_OF_A_SINGLE_RELAY.contains(name) && meters.fed(&format!("outbox_{name}")) == 0)
        .collect();
    assert!(missing.is_empty(), "never fed: {missing:?}");
}

/// A relay that skips some events, gives up soon, and measures.
fn troubled(
    stage: &Stage,
    sink: &posthaste_testkit::FlakySink,
    log: &Arc<FailingLog<posthaste_core::memory::MemoryLog>>,
) -> RelayBuilder {
    let subscription = Subscription {
        filter: Filter { types: vec![Pattern::new("tested")], ..Filter::default() },
        retry: RetryPolicy { max_attempts: 2, ..RetryPolicy::default() },
        ..Subscription::new(NAME)
    };
    RelayBuilder::new(Arc::clone(log) as _)
        .settings(stage.settings.clone())
        .measure(Arc::new(stage.log.clone()))
        .subscribe(subscription, Arc::new(sink.clone()))
}

/// One event that is skipped, one that times out and dies, one that is poison; an outage; and a job that gives the dead ones up.
async fn cause_trouble(stage: &Stage, sink: &posthaste_testkit::FlakySink) {
    stage.publish_event(posthaste_core::Event::of("other").bytes("x", "text/plain")).await;
    let slow = stage.publish("slow").await;
    sink.fail_always(slow, Fault::timeout("too slow"));
    let poison = stage.publish("poison").await;
    sink.fail_always(poison, Fault::poison("broken"));
    wait_until("both are dead", || stage.dead().len() == 2).await;
    sink.go_down();
    stage.publish("down").await;
    pass(Duration::from_secs(2)).await;
    sink.come_up();
    stage.settled().await;
    let all = JobRequest { kind: JobKind::Discard, matching: DeadFilter::default(), per_second: None };
    stage.log.act(&OperatorAct::Start(all), "ada").await.unwrap();
}

// pitfall U2
#[tokio::test(start_paused = true)]
async fn counters_say_what_happened() {
    let meters = Meters::default();
    let _measure = metrics::set_default_local_recorder(&meters);
    let stage = Stage::new(4);
    let sink = stage.sink();
    let events = stage.publish_many(50, 5).await;
    sink.fail(events[3], 2, Fault::transient("not now"));
    sink.fail(events[9], 1, Fault::permanent("never"));
    let relay = stage.relay(&sink).start().await.unwrap();
    stage.settled().await;
    _ = relay.stop().await;

    assert_eq!(meters.value("outbox_events_delivered_total"), 49);
    assert_eq!(meters.value("outbox_events_failed_total"), 2);
    assert_eq!(meters.value("outbox_events_dlq_total"), 1);
    assert_eq!(meters.value("outbox_cold_queue_depth"), 0);
    assert_eq!(meters.value("outbox_lanes_held"), 0);
}

// pitfalls U1, U3
#[tokio::test(start_paused = true)]
async fn an_outage_shows_in_the_gauges_while_it_lasts() {
    let meters = Meters::default();
    let _measure = metrics::set_default_local_recorder(&meters);
    let stage = Stage::new(4);
    let sink = stage.sink();
    let relay = stage.relay(&sink).measure(Arc::new(stage.log.clone())).start().await.unwrap();
    sink.go_down();
    stage.publish_many(7, 5).await;

    pass(Duration::from_secs(100)).await;
    let shown = ["circuit_open", "pending_events_count", "oldest_age_seconds"]
        .map(|name| meters.value(&format!("outbox_{name}")));
    assert!(shown[0] == 1 && shown[1] == 7 && shown[2] >= 80, "{shown:?}");
    sink.come_up();
    stage.settled().await;
    pass(Duration::from_secs(20)).await;

    assert_eq!([meters.value("outbox_circuit_open"), meters.value("outbox_pending_events_count")], [0, 0]);
    assert_eq!(relay.stop().await, Stopped::Cleanly);
}

#[tokio::test(start_paused = true)]
async fn the_prefix_of_the_names_can_be_changed() {
    let meters = Meters::default();
    let _measure = metrics::set_default_local_recorder(&meters);
    let stage = Stage::new(1);
    let sink = stage.sink();
    let settings = Settings::default();
    let relay = stage.relay(&sink).settings(settings).metrics_prefix("shop").start().await.unwrap();
    stage.publish_event(draft()).await;

    wait_until("it is counted", || meters.value("shop_events_delivered_total") == 1).await;

    assert_eq!(meters.fed("outbox_events_delivered_total"), 0);
    _ = relay.stop().await;
}
