//! Behind PgBouncer in transaction mode, where the next statement may meet another server session.

use std::{sync::Arc, time::Duration};

use posthaste_core::{
    Admin, EventFilter, Inspect, Log, OperatorAct, ResetTo, Retention, StatusWord, Subscription, SystemClock,
    Upkeep,
};
use posthaste_postgres::{Pooled, PostgresLog, PostgresOptions};
use posthaste_relay::{RelayBuilder, Settings, Stopped};
use posthaste_services::pgbouncer_url;
use posthaste_testkit::FlakySink;
use tokio::{task::JoinSet, time::timeout};

use crate::{
    fixture::{Fixture, LANES, SUB, keyed},
    schema::Schema,
    walk::Walk,
};

/// Far longer than it takes on a slow machine.
const PATIENCE: Duration = Duration::from_secs(120);

fn pooled(schema: &Schema) -> PostgresOptions {
    PostgresOptions {
        schema: Some(schema.name.clone()),
        lanes: Some(LANES),
        migrate: true,
        pooler: true,
        ..PostgresOptions::default()
    }
}

#[tokio::test]
async fn everything_works_behind_a_pooler() {
    let schema = Schema::new();
    let log = PostgresLog::open(&pgbouncer_url(), pooled(&schema)).await.unwrap();
    assert!(!log.capabilities().doorbell, "nobody can listen there");
    log.subscribe(&Subscription::new(SUB)).await.unwrap();
    let mut plain = Fixture::connect_to(&schema.name).await;
    let insert = "insert into outbox (topic, event_type, key, payload) select 't', 'e', 'k' || i, '1'
        from generate_series(1, 20) i";
    let mut walk = Walk::take(&log, "a").await;
    for round in 0..3 {
        crate::fixture::run(&mut plain, insert).await.unwrap();
        assert_eq!(walk.drain().await, (round * 20 + 1..=round * 20 + 20).collect::<Vec<i64>>());
    }

    let delivered = EventFilter {
        subscription: Some(SUB.to_owned()),
        status: Some(StatusWord::Delivered),
        limit: 100,
        ..EventFilter::default()
    };
    let listed = log.list(&delivered).await.unwrap().items;
    assert_eq!(listed.len(), 60);
    assert_eq!(log.show(listed[0].id).await.unwrap().items.len(), 2);
    assert_eq!(log.status().await.unwrap().events, 60);
    log.leave(&posthaste_core::RelayId("a".to_owned())).await.unwrap();
    log.act(&OperatorAct::Pause(SUB.to_owned()), "ada").await.unwrap();
    let reset = OperatorAct::Reset { subscription: SUB.to_owned(), to: ResetTo::Beginning };
    assert_eq!(log.act(&reset, "ada").await.unwrap(), u64::from(LANES));
    log.act(&OperatorAct::Resume(SUB.to_owned()), "ada").await.unwrap();
    assert_eq!(Walk::take(&log, "b").await.drain().await.len(), 60);
    let old = "update outbox set created_at = '2000-01-01'";
    crate::fixture::run(&mut plain, old).await.unwrap();
    let retention = Retention { events: Duration::from_secs(60), ..Retention::default() };
    assert_eq!(log.prune(&retention).await.unwrap().events, 60);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn applications_and_relays_share_the_sessions_of_a_pooler() {
    let schema = Schema::new();
    let log = PostgresLog::open(&pgbouncer_url(), pooled(&schema)).await.unwrap();
    let sink = FlakySink::new(Arc::new(SystemClock));
    let settings = Settings { poll_max: Duration::from_millis(20), ..Settings::default() };
    let relay = RelayBuilder::new(Arc::new(log.clone()))
        .settings(settings)
        .subscribe(Subscription::new(SUB), Arc::new(sink.clone()))
        .start()
        .await
        .unwrap();

    let mut applications = JoinSet::new();
    for application in 0..4_u64 {
        let log = log.clone();
        applications.spawn(async move {
            for number in 0..25_u64 {
                let mut tx = posthaste_postgres::begin(log.pool()).await.unwrap();
                let events: Vec<_> =
                    (0..10_u64).map(|event| build(application * 1_000 + number * 10 + event)).collect();
                posthaste_postgres::publish(&mut Pooled(&mut tx), log.place(), &events).await.unwrap();
                posthaste_postgres::commit(tx).await.unwrap();
            }
        });
    }
    while let Some(done) = applications.join_next().await {
        done.unwrap();
    }

    timeout(PATIENCE, sink.wait_for(1_000)).await.expect("all 1,000 events come");
    assert_eq!(relay.stop().await, Stopped::Cleanly);
    let mut received: Vec<_> = sink.received().iter().map(|receipt| receipt.id).collect();
    received.sort_unstable();
    received.dedup();
    assert_eq!((received.len(), sink.received().len()), (1_000, 1_000));
}

fn build(number: u64) -> posthaste_core::Event {
    let stamp = posthaste_core::Stamp {
        id: posthaste_core::EventId::from_bytes(u128::from(number + 1).to_be_bytes()),
        now: posthaste_core::Timestamp(1_000),
    };
    keyed(&format!("k{}", number % 50)).build(&posthaste_core::EventRules::default(), stamp).unwrap()
}
