//! `tokio_postgres::Transaction`.

use posthaste::ErrorKind;
use tokio::task::JoinSet;
use tokio_postgres::{Client, NoTls};

use crate::fixture::{Shop, event, expect_repeat, once};

const INSERT: &str = "insert into users values ('Ada')";

/// A client, and the task that carries its connection.
async fn connect(shop: &Shop) -> (Client, JoinSet<()>) {
    let (client, connection) = tokio_postgres::connect(&shop.database.url(), NoTls).await.unwrap();
    let mut carrying = JoinSet::new();
    carrying.spawn(async move { connection.await.unwrap() });
    (client, carrying)
}

#[tokio::test]
async fn what_commits_is_delivered() {
    let shop = Shop::open().await;
    let (mut client, _carrying) = connect(&shop).await;

    let mut tx = client.transaction().await.unwrap();
    tx.execute(INSERT, &[]).await.unwrap();
    let staged = shop.outbox.publish(&mut tx, event()).await.unwrap();
    let first = staged.id();
    shop.outbox.commit(tx, staged).await.unwrap();
    let mut tx = client.transaction().await.unwrap();
    let staged = shop.outbox.publish_many(&mut tx, [event().key("k"), event().key("k")]).await.unwrap();
    let ids = staged.published().iter().map(|published| published.id).chain([first]).collect();
    tx.commit().await.unwrap();
    staged.dispatch();

    shop.expect(ids, 1).await;
}

/// This driver asks the server for the types of parameters, and hears of a domain, which it does not take for a text.
#[tokio::test]
async fn plain_sql_says_that_names_are_texts() {
    const NAMED: &str =
        "insert into outbox (topic, event_type, payload) values ($1::text, $2::text, $3) returning id::text";
    let shop = Shop::open().await;
    let (client, _carrying) = connect(&shop).await;

    let row = client.query_one(NAMED, &[&"orders", &"order.placed", &"{}"]).await.unwrap();
    let id: String = row.get(0);
    let refused = client.query_one(NAMED, &[&"", &"order.placed", &"{}"]).await.unwrap_err();

    let uncast = NAMED.replace("::text,", ",");
    let unknown = client.query_one(&uncast, &[&"orders", &"order.placed", &"{}"]).await.unwrap_err();

    assert!(unknown.as_db_error().is_none(), "the driver itself refuses it: {unknown}");
    let refused = refused.as_db_error().unwrap();
    assert_eq!(refused.message(), "value for domain outbox_name violates check constraint \"outbox_name\"");
    shop.expect(vec![id.parse().unwrap()], 0).await;
}

#[tokio::test]
async fn what_is_rolled_back_is_not_delivered() {
    let shop = Shop::open().await;
    let (mut client, _carrying) = connect(&shop).await;

    let mut tx = client.transaction().await.unwrap();
    tx.execute(INSERT, &[]).await.unwrap();
    let staged = shop.outbox.publish_many(&mut tx, [event(), event()]).await.unwrap();
    tx.rollback().await.unwrap();
    staged.dispatch();
    let mut tx = client.transaction().await.unwrap();
    let mut savepoint = tx.transaction().await.unwrap();
    let taken_back = shop.outbox.publish(&mut savepoint, event()).await.unwrap();
    savepoint.rollback().await.unwrap();
    let kept = shop.outbox.publish(&mut tx, event().key("k")).await.unwrap();
    let ids = vec![kept.id()];
    shop.outbox.commit(tx, taken_back).await.unwrap();
    kept.dispatch();

    shop.expect(ids, 0).await;
}

#[tokio::test]
async fn a_repeat_leaves_the_transaction_usable() {
    let shop = Shop::open().await;
    let (mut client, _carrying) = connect(&shop).await;

    let mut tx = client.transaction().await.unwrap();
    let first = shop.outbox.publish(&mut tx, once()).await.unwrap();
    let ids = vec![first.id()];
    let repeat = shop.outbox.publish(&mut tx, once()).await.unwrap();
    expect_repeat(&first, &repeat);
    tx.execute(INSERT, &[]).await.unwrap();
    shop.outbox.commit(tx, first).await.unwrap();

    shop.expect(ids, 1).await;
}

#[tokio::test]
async fn says_what_the_database_refuses() {
    let shop = Shop::open().await;
    let (mut client, _carrying) = connect(&shop).await;
    client.batch_execute("create schema empty; set search_path = empty").await.unwrap();

    let mut tx = client.transaction().await.unwrap();
    let error = shop.outbox.publish(&mut tx, event()).await.unwrap_err();

    assert_eq!(error.kind(), ErrorKind::Schema, "{}", error.chain());
    assert!(error.chain().contains("check schema and prefix"), "{}", error.chain());
    tx.rollback().await.unwrap();
    shop.expect(Vec::new(), 0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn works_in_a_spawned_task() {
    let shop = Shop::open().await;
    let (mut client, _carrying) = connect(&shop).await;
    let outbox = shop.outbox.clone();
    let mut publishing = JoinSet::new();
    publishing.spawn(async move {
        let mut tx = client.transaction().await.unwrap();
        let staged = outbox.publish(&mut tx, event()).await.unwrap();
        let id = staged.id();
        outbox.commit(tx, staged).await.unwrap();
        id
    });

    let ids = publishing.join_all().await;
    shop.expect(ids, 0).await;
}
