//! `sea_orm::DatabaseTransaction`.

use posthaste::ErrorKind;
use sea_orm::{ConnectionTrait, Database, DatabaseConnection, TransactionTrait};

use crate::fixture::{Shop, Trouble, event, expect_repeat, once};

const INSERT: &str = "insert into users values ('Ada')";

async fn connect(shop: &Shop) -> DatabaseConnection {
    Database::connect(shop.database.url()).await.unwrap()
}

#[tokio::test]
async fn what_commits_is_delivered() {
    let shop = Shop::open().await;
    let database = connect(&shop).await;

    let mut tx = database.begin().await.unwrap();
    tx.execute_unprepared(INSERT).await.unwrap();
    let staged = shop.outbox.publish(&mut tx, event()).await.unwrap();
    let first = staged.id();
    shop.outbox.commit(tx, staged).await.unwrap();
    let published = shop
        .outbox
        .transaction(&database, async |tx| {
            tx.execute_unprepared(INSERT).await?;
            Ok::<_, Trouble>(tx.publish_many([event().key("k"), event().key("k")]).await?)
        })
        .await
        .unwrap();
    let ids = published.iter().map(|published| published.id).chain([first]).collect();

    shop.expect(ids, 2).await;
}

#[tokio::test]
async fn what_is_rolled_back_is_not_delivered() {
    let shop = Shop::open().await;
    let database = connect(&shop).await;

    let mut tx = database.begin().await.unwrap();
    tx.execute_unprepared(INSERT).await.unwrap();
    let staged = shop.outbox.publish_many(&mut tx, [event(), event()]).await.unwrap();
    tx.rollback().await.unwrap();
    staged.dispatch();
    let answer: Result<(), Trouble> = shop
        .outbox
        .transaction(&database, async |tx| {
            tx.execute_unprepared(INSERT).await?;
            tx.publish(event()).await?;
            Err("declined".into())
        })
        .await;

    assert_eq!(answer.unwrap_err().to_string(), "declined");
    shop.expect(Vec::new(), 0).await;
}

#[tokio::test]
async fn a_repeat_leaves_the_transaction_usable() {
    let shop = Shop::open().await;
    let database = connect(&shop).await;

    let mut tx = database.begin().await.unwrap();
    let first = shop.outbox.publish(&mut tx, once()).await.unwrap();
    let ids = vec![first.id()];
    let repeat = shop.outbox.publish(&mut tx, once()).await.unwrap();
    expect_repeat(&first, &repeat);
    tx.execute_unprepared(INSERT).await.unwrap();
    shop.outbox.commit(tx, first).await.unwrap();

    shop.expect(ids, 1).await;
}

#[tokio::test]
async fn says_what_the_database_refuses() {
    let shop = Shop::open().await;
    let database = connect(&shop).await;

    let mut tx = database.begin().await.unwrap();
    tx.execute_unprepared("create schema empty; set local search_path = empty").await.unwrap();
    let error = shop.outbox.publish(&mut tx, event()).await.unwrap_err();

    assert_eq!(error.kind(), ErrorKind::Schema, "{}", error.chain());
    assert!(error.chain().contains("check schema and prefix"), "{}", error.chain());
    tx.rollback().await.unwrap();
    shop.expect(Vec::new(), 0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[expect(clippy::disallowed_methods, reason = "that it can be spawned is what is tested")]
async fn works_in_a_spawned_task() {
    let shop = Shop::open().await;
    let database = connect(&shop).await;
    let outbox = shop.outbox.clone();

    let task =
        tokio::spawn(
            async move { outbox.transaction(&database, async |tx| tx.publish(event()).await).await },
        );

    let ids = vec![task.await.unwrap().unwrap().id];
    shop.expect(ids, 0).await;
}
