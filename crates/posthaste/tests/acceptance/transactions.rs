//! `outbox.transaction(…)`: commits and dispatches, or rolls everything back.

use std::collections::HashSet;

use posthaste::{EventId, Received, RelayBuilder, Staged, StatusWord, sqlite};
use sqlx::Connection;
use tokio::sync::mpsc;

use crate::fixture::{Fixture, event, next};

/// What an application's own errors often are.
type Trouble = Box<dyn std::error::Error + Send + Sync>;

fn listening(shop: &Fixture) -> (RelayBuilder, mpsc::Receiver<Received>) {
    let (heard, hears) = mpsc::channel(100);
    let relay = shop.outbox.relay().listen_all(move |event| {
        let heard = heard.clone();
        async move { Ok(heard.send(event).await?) }
    });
    (relay, hears)
}

#[tokio::test]
async fn commits_the_data_and_the_event_and_dispatches_it() {
    let shop = Fixture::new().await;
    let (relay, mut hears) = listening(&shop);
    let relay = shop.start(relay).await;

    let published = shop
        .outbox
        .transaction(&shop.pool, async |tx| {
            sqlx::query("insert into users values ('Ada')").execute(&mut ***tx).await?;
            Ok::<_, Trouble>(tx.publish(event("user.created")).await?)
        })
        .await
        .unwrap();

    assert_eq!(next(&mut hears).await.id, published.id);
    assert_eq!(shop.rows("users").await, 1);
    relay.stop().await;
}

#[tokio::test]
async fn rolls_everything_back_if_the_work_fails() {
    let shop = Fixture::new().await;
    let (relay, mut hears) = listening(&shop);
    let relay = shop.start(relay).await;

    let answer = shop
        .outbox
        .transaction(&shop.pool, async |tx| {
            sqlx::query("insert into users values ('Ada')").execute(&mut ***tx).await?;
            tx.publish(event("user.created")).await?;
            Err::<(), Trouble>("declined".into())
        })
        .await;
    let marker =
        shop.outbox.transaction(&shop.pool, async |tx| tx.publish(event("marker")).await).await.unwrap();

    assert_eq!(answer.unwrap_err().to_string(), "declined");
    assert_eq!((shop.rows("users").await, shop.rows("outbox").await), (0, 1));
    assert_eq!(next(&mut hears).await.id, marker.id, "nobody heard of what was rolled back");
    relay.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[expect(clippy::disallowed_methods, reason = "that it can be spawned is what is tested")]
async fn works_in_a_spawned_task() {
    let shop = Fixture::new().await;
    let (relay, mut hears) = listening(&shop);
    let relay = shop.start(relay).await;

    let (outbox, pool) = (shop.outbox.clone(), shop.pool.clone());
    let name = "Ada".to_owned();
    let task = tokio::spawn(async move {
        let answer = outbox.transaction(&pool, async |tx| {
            sqlx::query("insert into users values (?1)").bind(&name).execute(&mut ***tx).await?;
            Ok::<_, Trouble>(tx.publish_many([event("user.created"), event("user.greeted")]).await?)
        });
        answer.await
    });
    let published = task.await.unwrap().unwrap();

    let mut heard = [next(&mut hears).await.id, next(&mut hears).await.id];
    heard.sort();
    assert_eq!(heard, [published[0].id, published[1].id]);
    relay.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[expect(clippy::disallowed_methods, reason = "that it can be spawned is what is tested")]
async fn publishing_in_a_transaction_of_ones_own_works_in_a_spawned_task() {
    let shop = Fixture::new().await;
    let (outbox, pool) = (shop.outbox.clone(), shop.pool.clone());

    let task = tokio::spawn(async move {
        let mut tx = posthaste::sqlite::begin(&pool).await?;
        let staged = outbox.publish(&mut tx, event("user.created")).await?;
        outbox.commit(tx, staged).await
    });

    task.await.unwrap().unwrap();
    assert_eq!(shop.rows("outbox").await, 1);
}

#[tokio::test]
async fn what_its_savepoint_took_back_is_never_delivered_and_hides_nothing() {
    let shop = Fixture::new().await;
    let (relay, mut hears) = listening(&shop);
    let relay = shop.start(relay).await;
    let mut tx = sqlite::begin(&shop.pool).await.unwrap();
    let mut savepoint = tx.begin().await.unwrap();
    let taken_back = shop.outbox.publish(&mut savepoint, event("taken.back")).await.unwrap();
    savepoint.rollback().await.unwrap();

    // It gets the position that the first one had.
    let kept = shop.outbox.publish(&mut tx, event("kept")).await.unwrap();
    let position = |staged: &Staged| staged.published()[0].spot.unwrap().position;
    assert_eq!(position(&kept), position(&taken_back));
    let id = kept.id();
    shop.outbox.commit(tx, taken_back).await.unwrap();

    assert_eq!(next(&mut hears).await.id, id);
    shop.wait_for_status(id, StatusWord::Delivered).await;
    assert!(hears.try_recv().is_err(), "nothing else came");
    relay.stop().await;
}

#[tokio::test]
async fn a_process_without_the_listener_settles_nothing_for_one_that_has_it() {
    let shop = Fixture::new().await;
    let old = shop.outbox.relay().listen("user.created", |_| async { Ok(()) });
    let old = shop.start(old).await;
    let (heard, mut hears) = mpsc::channel(100);
    let new = shop.outbox.relay().listen("user.created", |_| async { Ok(()) }).listen(
        "invoice.made",
        move |event| {
            let heard = heard.clone();
            async move { Ok(heard.send(event).await?) }
        },
    );
    let new = new.start().await.unwrap();

    let invoices = (0..20).map(|_| event("invoice.made"));
    let published =
        shop.outbox.transaction(&shop.pool, async |tx| tx.publish_many(invoices).await).await.unwrap();

    let mut wanted: HashSet<EventId> = published.iter().map(|published| published.id).collect();
    while !wanted.is_empty() {
        wanted.remove(&next(&mut hears).await.id);
    }
    new.stop().await;
    old.stop().await;
}
