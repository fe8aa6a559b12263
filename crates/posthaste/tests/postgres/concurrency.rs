//! Many publishers at once: numbers without gaps, repeats that are one event.

use std::{collections::HashSet, sync::Arc};

use posthaste::{Outbox, Published, Result, postgres::PgPool};
use tokio::{sync::Barrier, task::JoinSet};

use crate::fixture::{Fixture, event, listening, next};

const PUBLISHERS: usize = 8;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn numbers_in_an_aggregate_have_no_gaps_under_many_publishers_and_arrive_in_order() {
    const EACH: usize = 25;
    let shop = Fixture::new().await;
    let (relay, mut hears) = listening(&shop.outbox);
    let relay = shop.start(relay).await;
    let mut publishing = JoinSet::new();
    for publisher in 0..PUBLISHERS {
        let (outbox, pool) = (shop.outbox.clone(), shop.pool.clone());
        publishing.spawn(async move {
            for n in 0..EACH {
                let mut tx = pool.begin().await.unwrap();
                let numbered = event("order.changed").aggregate("order", 7).next_version();
                let staged = outbox.publish(&mut tx, numbered).await.unwrap();
                // Every publisher changes its mind now and then.
                if (n + publisher) % 5 == 0 {
                    tx.rollback().await.unwrap();
                } else {
                    outbox.commit(tx, staged).await.unwrap();
                }
            }
        });
    }
    publishing.join_all().await;

    let committed = i64::try_from(PUBLISHERS * EACH * 4 / 5).unwrap();
    let versions: Vec<i64> = sqlx::query_scalar("select version from outbox order by position")
        .fetch_all(&shop.pool)
        .await
        .unwrap();
    assert_eq!(versions, (1..=committed).collect::<Vec<_>>(), "no gap, and in the order of the log");
    for version in 1..=committed {
        assert_eq!(next(&mut hears).await.version, Some(version), "delivered in order");
    }
    relay.stop().await;
    assert!(hears.try_recv().is_err());
    shop.close().await;
}

/// Publishes what `make` makes from as many tasks at the same moment, each in a transaction of its own.
async fn publish_at_once(
    shop: &Fixture,
    make: impl Fn() -> posthaste::EventBuilder + Clone + Send + 'static,
) -> Vec<Published> {
    let start = Arc::new(Barrier::new(PUBLISHERS));
    let mut publishing = JoinSet::new();
    for _ in 0..PUBLISHERS {
        let (outbox, pool, start) = (shop.outbox.clone(), shop.pool.clone(), Arc::clone(&start));
        let make = make.clone();
        publishing.spawn(async move {
            start.wait().await;
            publish_and_work_on(&outbox, &pool, make()).await.unwrap()
        });
    }
    publishing.join_all().await
}

async fn publish_and_work_on(
    outbox: &Outbox,
    pool: &PgPool,
    event: posthaste::EventBuilder,
) -> Result<Published> {
    let mut tx = pool.begin().await.unwrap();
    let staged = outbox.publish(&mut tx, event).await?;
    let published = staged.published()[0];
    // The transaction is usable, whoever came first.
    sqlx::query("insert into users values ('Ada')").execute(&mut *tx).await.unwrap();
    outbox.commit(tx, staged).await?;
    Ok(published)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_idempotency_key_from_many_publishers_is_one_event() {
    let shop = Fixture::new().await;
    let published = publish_at_once(&shop, || event("payment.made").idempotency_key("payment-7")).await;

    let ids: HashSet<_> = published.iter().map(|published| published.id).collect();
    assert_eq!(ids.len(), 1, "all got the id of the first");
    assert_eq!(published.iter().filter(|published| !published.duplicate).count(), 1);
    let transactions = i64::try_from(PUBLISHERS).unwrap();
    assert_eq!((shop.rows("outbox").await, shop.rows("users").await), (1, transactions));
    shop.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_repeat_that_came_at_the_same_moment_draws_no_number() {
    let shop = Fixture::new().await;
    let payment = || event("payment.made").aggregate("account", 7).next_version();
    for round in 1..=5 {
        let key = format!("payment-{round}");
        let published = publish_at_once(&shop, move || payment().idempotency_key(key.as_str())).await;

        assert!(published.iter().all(|published| published.version == Some(round)), "{published:?}");
    }
    let last: i64 =
        sqlx::query_scalar("select last from outbox_sequences").fetch_one(&shop.pool).await.unwrap();
    assert_eq!((last, shop.rows("outbox").await), (5, 5), "no number was lost");
    shop.close().await;
}
