//! What operators start is carried out by whichever relay runs, once, and goes on after a restart.

use std::{sync::Arc, time::Duration};

use posthaste_core::{
    Admin, DeadFilter, EventId, Fault, Inspect, Job, JobKind, JobRequest, JobState, OperatorAct,
};
use posthaste_relay::{Relay, Stopped};
use posthaste_testkit::{
    FailingLog, FlakySink,
    failing_log::{Operation, When},
};
use tokio::time::Instant;

use crate::stage::{Stage, ids, pass, received, wait_until};

/// So many events of one key, all of them dead and mended since, and a relay that runs.
async fn all_dead(stage: &Stage, sink: &FlakySink, count: usize) -> (Vec<EventId>, Relay) {
    let events = stage.publish_many(count, 1).await;
    for event in &events {
        sink.fail(*event, 1, Fault::permanent("never"));
    }
    let relay = stage.relay(sink).start().await.unwrap();
    wait_until("all are dead", || stage.dead().len() == count.min(50)).await;
    stage.settled().await;
    (events, relay)
}

async fn start(stage: &Stage, per_second: Option<u32>) {
    let request = JobRequest { kind: JobKind::Replay, matching: DeadFilter::default(), per_second };
    stage.log.act(&OperatorAct::Start(request), "ada").await.unwrap();
}

async fn job(stage: &Stage) -> Job {
    stage.log.status().await.unwrap().jobs.remove(0)
}

#[tokio::test(start_paused = true)]
async fn a_job_is_carried_out_soon_and_in_order() {
    let stage = Stage::new(4);
    let sink = stage.sink();
    let (events, relay) = all_dead(&stage, &sink, 1_200).await;

    start(&stage, None).await;
    let asked = Instant::now();
    received(&sink, 1_200).await;

    assert!(asked.elapsed() < Duration::from_secs(2), "{:?}", asked.elapsed());
    assert_eq!(ids(&sink), events);
    assert_eq!((job(&stage).await.state, job(&stage).await.done), (JobState::Done, 1_200));
    assert_eq!(relay.stop().await, Stopped::Cleanly);
}

#[tokio::test(start_paused = true)]
async fn a_job_goes_on_after_a_restart() {
    let stage = Stage::new(4);
    let sink = stage.sink();
    let (events, relay) = all_dead(&stage, &sink, 10).await;

    start(&stage, Some(2)).await;
    received(&sink, 4).await;
    assert_eq!(relay.stop().await, Stopped::Cleanly);
    pass(Duration::from_secs(60)).await;
    assert_eq!(
        (job(&stage).await.state, sink.received().len()),
        (JobState::Running, 4),
        "nobody works on it"
    );
    let relay = stage.relay(&sink).start().await.unwrap();
    received(&sink, 10).await;

    assert_eq!(ids(&sink), events, "each once, and in order");
    wait_until("it is over", || stage.status().dead == 0).await;
    pass(Duration::from_secs(2)).await;
    assert_eq!((job(&stage).await.state, job(&stage).await.done), (JobState::Done, 10));
    assert_eq!(relay.stop().await, Stopped::Cleanly);
}

#[tokio::test(start_paused = true)]
async fn a_job_is_as_slow_as_it_has_to_be() {
    let stage = Stage::new(4);
    let sink = stage.sink();
    let (_, relay) = all_dead(&stage, &sink, 30).await;

    start(&stage, Some(3)).await;
    let asked = Instant::now();
    received(&sink, 30).await;

    let took = asked.elapsed().as_secs();
    assert!((9..=12).contains(&took), "30 of them at 3 a second took {took} s");
    assert_eq!(relay.stop().await, Stopped::Cleanly);
}

#[tokio::test(start_paused = true)]
async fn two_relays_do_a_job_once() {
    let stage = Stage::new(4);
    let sink = stage.sink();
    let (_, relay) = all_dead(&stage, &sink, 700).await;
    let other = stage.relay(&sink).start().await.unwrap();
    pass(Duration::from_secs(30)).await;

    start(&stage, None).await;
    received(&sink, 700).await;
    pass(Duration::from_secs(10)).await;

    assert_eq!(sink.received().len(), 700);
    assert_eq!(job(&stage).await.done, 700);
    assert_eq!((relay.stop().await, other.stop().await), (Stopped::Cleanly, Stopped::Cleanly));
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_lost_costs_time_and_nothing_else() {
    let stage = Stage::new(4);
    let sink = stage.sink();
    let (events, relay) = all_dead(&stage, &sink, 6).await;
    assert_eq!(relay.stop().await, Stopped::Cleanly);
    let log = Arc::new(FailingLog::new(stage.log.clone()));
    let relay = stage.relay_over(Arc::clone(&log) as _, Arc::new(sink.clone())).start().await.unwrap();

    log.fail(Operation::Work, When::After, 2);
    start(&stage, Some(2)).await;
    received(&sink, 6).await;
    pass(Duration::from_secs(10)).await;

    assert_eq!(log.failures(Operation::Work), 2);
    assert_eq!((ids(&sink), job(&stage).await.done), (events, 6));
    assert_eq!(relay.stop().await, Stopped::Cleanly);
}
