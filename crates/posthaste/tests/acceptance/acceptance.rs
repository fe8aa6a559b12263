//! 18.1 to 18.6. The specification's words are in the names; its NEW, DONE, RETRY and DEAD are pending,
//! delivered, failed and dead here.

use std::{sync::Arc, time::Duration};

use posthaste::{
    AggregateType, DeadFilter, DeadReason, Event, LISTENERS, ListenerError, RetryPolicy, Settings,
    StatusWord, Subscription, aggregate_types, event_types, sqlite,
};
use tokio::sync::{Semaphore, mpsc};

use crate::{
    counters::Counters,
    fixture::{Fixture, event, next},
};

event_types! { enum UserEvent { Created, Deleted } }
aggregate_types! { enum Aggregate { User, Order } }

#[tokio::test]
async fn t18_1_atomicity() {
    let shop = Fixture::new().await;

    let mut tx = sqlite::begin(&shop.pool).await.unwrap();
    sqlx::query("insert into users values ('Ada')").execute(&mut *tx).await.unwrap();
    let staged = shop.outbox.publish(&mut tx, event("user.created")).await.unwrap();
    tx.rollback().await.unwrap();

    assert!(shop.outbox.admin().show(staged.id()).await.is_err(), "the row is not there");
    assert_eq!((shop.rows("outbox").await, shop.rows("users").await), (0, 0));
    staged.dispatch();

    let mut dropped = sqlite::begin(&shop.pool).await.unwrap();
    let staged = shop.outbox.publish(&mut dropped, event("user.created")).await.unwrap();
    drop(dropped);
    assert_eq!(shop.rows("outbox").await, 0);
    staged.dispatch();
}

#[tokio::test]
async fn t18_2_commit_and_fast_path() {
    let counters = Counters::default();
    let _recording = metrics::set_default_local_recorder(&counters);
    let shop = Fixture::new().await;
    let (heard, mut hears) = mpsc::channel(10);
    let relay = shop.outbox.relay().listen("user.created", move |event| {
        let heard = heard.clone();
        async move { Ok(heard.send(event.id).await?) }
    });
    let relay = shop.start(relay).await;

    let mut tx = sqlite::begin(&shop.pool).await.unwrap();
    let staged = shop.outbox.publish(&mut tx, event("user.created")).await.unwrap();
    let id = staged.id();
    shop.outbox.commit(tx, staged).await.unwrap();

    assert_eq!(counters.get("outbox_hot_enqueued_total"), 1, "the relay has the event in memory");
    assert_eq!(next(&mut hears).await, id, "the listener was invoked");
    shop.wait_for_status(id, StatusWord::Delivered).await;
    // The log may have been read between a commit and its dispatch; then that event needs no shortcut.
    while counters.get("outbox_hot_delivered_total") == 0 {
        let mut tx = sqlite::begin(&shop.pool).await.unwrap();
        let staged = shop.outbox.publish(&mut tx, event("user.created")).await.unwrap();
        shop.outbox.commit(tx, staged).await.unwrap();
        next(&mut hears).await;
    }
    relay.stop().await;
    assert!(hears.try_recv().is_err(), "nothing was delivered twice");
}

#[tokio::test]
async fn t18_3_queue_overflow_downgrade() {
    const EVENTS: usize = 10;
    let counters = Counters::default();
    let _recording = metrics::set_default_local_recorder(&counters);
    let shop = Fixture::new().await;
    let gate = Arc::new(Semaphore::new(0));
    let (heard, mut hears) = mpsc::channel(EVENTS * 2);
    let listener_gate = Arc::clone(&gate);
    let relay = shop.outbox.relay().settings(Settings { hot_queue: 1, ..Settings::default() }).listen(
        "user.created",
        move |event| {
            let (gate, heard) = (Arc::clone(&listener_gate), heard.clone());
            async move {
                drop(gate.acquire().await?);
                Ok(heard.send(event.id).await?)
            }
        },
    );
    let relay = shop.start(relay).await;

    let mut tx = sqlite::begin(&shop.pool).await.unwrap();
    let events = (0..EVENTS).map(|_| event("user.created"));
    let staged = shop.outbox.publish_many(&mut tx, events).await.unwrap();
    let ids: Vec<_> = staged.published().iter().map(|published| published.id).collect();
    shop.outbox.commit(tx, staged).await.expect("publishing is not hurt by a full queue");

    assert!(counters.get("outbox_hot_dropped_total") >= 1, "the queue overflowed");
    for id in &ids {
        assert_eq!(shop.status(*id).await.status, StatusWord::Pending);
    }
    gate.add_permits(1);
    let mut arrived = Vec::new();
    for _ in 0..EVENTS {
        arrived.push(next(&mut hears).await);
    }
    for id in &ids {
        assert!(arrived.contains(id), "it was delivered from the log");
        shop.wait_for_status(*id, StatusWord::Delivered).await;
    }
    relay.stop().await;
    assert!(hears.try_recv().is_err(), "nothing was delivered twice");
}

#[tokio::test]
async fn t18_4_retry_and_dead() {
    let shop = Fixture::new().await;
    let gate = Arc::new(Semaphore::new(0));
    let (heard, mut hears) = mpsc::channel(10);
    let listener_gate = Arc::clone(&gate);
    let soon = Duration::from_millis(1);
    let retry = RetryPolicy { max_attempts: 3, base: soon, max: soon, ..RetryPolicy::default() };
    let relay = shop.outbox.relay().listen_as(Subscription { retry, ..Subscription::new(LISTENERS) }).listen(
        "user.created",
        move |event| {
            let (gate, heard) = (Arc::clone(&listener_gate), heard.clone());
            async move {
                heard.send(event.attempt()).await?;
                gate.acquire().await?.forget();
                Err(ListenerError::transient("the mail server says no"))
            }
        },
    );
    let relay = shop.start(relay).await;
    let mut tx = sqlite::begin(&shop.pool).await.unwrap();
    let staged = shop.outbox.publish(&mut tx, event("user.created").key("ada")).await.unwrap();
    let id = staged.id();
    tx.commit().await.unwrap();
    staged.dispatch();

    for attempt in 1..=3 {
        assert_eq!(next(&mut hears).await, attempt);
        let status = shop.status(id).await;
        let expected = if attempt == 1 { StatusWord::Pending } else { StatusWord::Failed };
        assert_eq!((status.status, status.attempts), (expected, attempt - 1));
        gate.add_permits(1);
    }
    shop.wait_for_status(id, StatusWord::Dead).await;
    let dead = shop.outbox.admin().dead(&DeadFilter::default()).await.unwrap().items;
    assert_eq!((dead[0].id, dead[0].attempts, dead[0].reason), (id, 3, DeadReason::MaxRetriesExceeded));
    assert!(dead[0].error.contains("the mail server says no"));
    relay.stop().await;
    assert!(hears.try_recv().is_err(), "it was not tried a fourth time");
}

#[tokio::test]
async fn t18_5_type_safe_event_type() {
    let shop = Fixture::new().await;
    let (heard, mut hears) = mpsc::channel(10);
    let other = heard.clone();
    let relay = shop
        .outbox
        .relay()
        .listen(UserEvent::Created, move |event| {
            let heard = heard.clone();
            async move { Ok(heard.send(("created", event.event_type.to_string())).await?) }
        })
        .listen(UserEvent::Deleted, move |event| {
            let heard = other.clone();
            async move { Ok(heard.send(("deleted", event.event_type.to_string())).await?) }
        });
    let relay = shop.start(relay).await;

    let mut tx = sqlite::begin(&shop.pool).await.unwrap();
    let staged = shop.outbox.publish(&mut tx, Event::of(UserEvent::Created).json(&1).unwrap()).await.unwrap();
    tx.commit().await.unwrap();
    staged.dispatch();

    assert_eq!(next(&mut hears).await, ("created", "Created".to_owned()));
    relay.stop().await;
    assert!(hears.try_recv().is_err(), "only the listener of this type was invoked");
}

#[tokio::test]
async fn t18_6_type_safe_aggregate_type() {
    let shop = Fixture::new().await;
    let (heard, mut hears) = mpsc::channel(10);
    let relay = shop.outbox.relay().listen_all(move |event| {
        let heard = heard.clone();
        async move { Ok(heard.send(event.event()).await?) }
    });
    let relay = shop.start(relay).await;

    let mut tx = sqlite::begin(&shop.pool).await.unwrap();
    let user = event("user.created").aggregate(Aggregate::User, "user-123");
    let staged = shop.outbox.publish(&mut tx, user).await.unwrap();
    tx.commit().await.unwrap();
    staged.dispatch();

    let event = next(&mut hears).await;
    assert_eq!(event.aggregate_type.as_deref(), Some("User"), "the name of the enum's variant");
    assert_eq!(event.aggregate_id.as_deref(), Some("user-123"));
    assert_eq!(event.key.as_deref(), Some("user-123"), "the key follows from it");
    assert_eq!(Aggregate::Order.name(), "Order");
    relay.stop().await;
}
