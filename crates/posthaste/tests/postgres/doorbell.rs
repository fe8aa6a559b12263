//! Two processes, as far as Posthaste can tell: one publishes, another one delivers.

use std::time::{Duration, Instant};

use posthaste::{Outbox, Settings};
use sqlx::postgres::PgListener;
use tokio::time::timeout;

use crate::fixture::{Fixture, event, listening, next, next_id, seldom_polling};

/// Half of the interval in which the relay polls.
const WELL_BEFORE_A_POLL: Duration = Duration::from_secs(5);

#[tokio::test]
async fn what_another_process_publishes_arrives_well_before_the_next_poll() {
    let shop = Fixture::new().await;
    let (relay, mut hears) = listening(&shop.outbox);
    let relay = shop.start(relay.settings(seldom_polling())).await;
    let other = Outbox::open(&shop.database.url()).await.unwrap();

    let began = Instant::now();
    for _ in 0..3 {
        let mut tx = shop.pool.begin().await.unwrap();
        let staged = other.publish(&mut tx, event("dispatched").key("k")).await.unwrap();
        let id = staged.id();
        tx.commit().await.unwrap();
        staged.dispatch();
        assert_eq!(next_id(&mut hears).await, id);

        let published =
            other.transaction(&shop.pool, async |tx| tx.publish(event("committed")).await).await.unwrap();
        assert_eq!(next_id(&mut hears).await, published.id);
    }

    assert!(began.elapsed() < WELL_BEFORE_A_POLL, "{:?}", began.elapsed());
    relay.stop().await;
    shop.close().await;
}

#[tokio::test]
async fn relays_of_two_subscriptions_in_two_processes_hear_of_one_commit() {
    let shop = Fixture::new().await;
    let (here, mut hears) = listening(&shop.outbox);
    // A short lease, so that each notices the other long before it would poll.
    let seldom_polling = || Settings { lease: Duration::from_secs(3), ..seldom_polling() };
    let here = shop.start(here.settings(seldom_polling())).await;
    let other = Outbox::open(&shop.database.url()).await.unwrap();
    let (there, mut hears_there) = listening(&other);
    let there = there.listen_as(posthaste::Subscription::new("there")).settings(seldom_polling());
    let there = shop.start(there).await;
    shop.wait_until("each knows of the other", async || {
        !here.pulse().is_alone() && !there.pulse().is_alone()
    })
    .await;

    let began = Instant::now();
    let mut tx = shop.pool.begin().await.unwrap();
    let staged = shop.outbox.publish(&mut tx, event("hot")).await.unwrap();
    let id = staged.id();
    shop.outbox.commit(tx, staged).await.unwrap();

    assert_eq!(next_id(&mut hears).await, id, "delivered from memory");
    assert_eq!(next_id(&mut hears_there).await, id, "and read by the other");
    assert!(began.elapsed() < WELL_BEFORE_A_POLL, "{:?}", began.elapsed());
    here.stop().await;
    there.stop().await;
    shop.close().await;
}

/// Behind a pooler nobody hears of others, so that only the relay's own bell is left.
#[tokio::test]
async fn what_is_committed_through_the_outbox_wakes_its_own_relay() {
    let shop = Fixture::new().await;
    let outbox = Outbox::builder(shop.database.url()).behind_a_pooler().open().await.unwrap();
    let (relay, mut hears) = listening(&outbox);
    let relay = shop.start(relay.settings(seldom_polling())).await;

    let began = Instant::now();
    for draft in [event("from.the.log").key("k"), event("from.memory")] {
        let published = outbox.transaction(&shop.pool, async |tx| tx.publish(draft).await).await.unwrap();
        assert_eq!(next_id(&mut hears).await, published.id);
    }

    assert!(began.elapsed() < WELL_BEFORE_A_POLL, "{:?}", began.elapsed());
    relay.stop().await;
    shop.close().await;
}

/// A `NOTIFY` is a transaction of its own, and the relay here would read once more for it.
#[tokio::test]
async fn an_application_whose_relay_is_the_only_one_tells_nobody_else() {
    const COMMITS: usize = 20;
    let shop = Fixture::new().await;
    let (relay, mut hears) = listening(&shop.outbox);
    let relay = shop.start(relay.settings(seldom_polling())).await;
    assert!(relay.pulse().is_alone());
    let mut others = PgListener::connect_with(&shop.pool).await.unwrap();
    others.listen("posthaste.outbox").await.unwrap();

    for _ in 0..COMMITS {
        let mut tx = shop.pool.begin().await.unwrap();
        let staged = shop.outbox.publish(&mut tx, event("dispatched").key("k")).await.unwrap();
        tx.commit().await.unwrap();
        staged.dispatch();
        let committing = shop.outbox.transaction(&shop.pool, async |tx| tx.publish(event("committed")).await);
        committing.await.unwrap();
        next(&mut hears).await;
        next(&mut hears).await;
    }
    sqlx::query("select pg_notify('posthaste.outbox', 'by the test')").execute(&shop.pool).await.unwrap();

    let heard = timeout(WELL_BEFORE_A_POLL, others.recv()).await.expect("the test has rung").unwrap();
    assert_eq!(heard.payload(), "by the test", "nobody rang before");
    relay.stop().await;
    drop(others);
    shop.close().await;
}

#[tokio::test]
async fn many_commits_are_heard_of_although_they_are_one_ring() {
    const EVENTS: usize = 200;
    let shop = Fixture::new().await;
    let (relay, mut hears) = listening(&shop.outbox);
    let relay = shop.start(relay.settings(seldom_polling())).await;
    let other = Outbox::open(&shop.database.url()).await.unwrap();

    let began = Instant::now();
    for _ in 0..EVENTS {
        let publishing =
            other.transaction(&shop.pool, async |tx| tx.publish(event("counted").key("k")).await);
        publishing.await.unwrap();
    }
    let committed = Instant::now();
    for _ in 0..EVENTS {
        assert_eq!(next(&mut hears).await.event_type, "counted");
    }

    let late = committed.elapsed();
    assert!(late < WELL_BEFORE_A_POLL, "{late:?} after the last commit, {:?} in all", began.elapsed());
    relay.stop().await;
    shop.close().await;
}

/// To ring costs the server something. However often it is asked for, others hear it some 50 times a second.
#[tokio::test]
async fn who_rings_without_end_is_passed_on_now_and_then() {
    const RINGS: u32 = 20;
    const REST: Duration = Duration::from_millis(20);
    let shop = Fixture::new().await;
    let driver = shop.outbox.driver();
    let mut hears = PgListener::connect_with(&shop.pool).await.unwrap();
    hears.listen("posthaste.outbox").await.unwrap();

    let began = Instant::now();
    let ringing = async {
        loop {
            driver.ring();
            tokio::task::yield_now().await;
        }
    };
    let heard = async {
        for _ in 0..RINGS {
            timeout(WELL_BEFORE_A_POLL, hears.recv()).await.expect("a ring is passed on").unwrap();
        }
    };
    tokio::select! { () = heard => {}, () = ringing => {} }

    // The first of them are passed on sooner: it is not known yet how many will come.
    assert!(began.elapsed() >= REST * (RINGS / 2), "{RINGS} rings in {:?}", began.elapsed());
    drop(hears);
    shop.close().await;
}
