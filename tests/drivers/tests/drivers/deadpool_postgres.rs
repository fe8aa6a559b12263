//! `deadpool_postgres::Transaction`, which has one of `tokio_postgres` inside.

use deadpool_postgres::{Manager, Pool};
use tokio_postgres::NoTls;

use crate::fixture::{Shop, event, expect_repeat, once};

fn pool(shop: &Shop) -> Pool {
    let manager = Manager::new(shop.database.url().parse().unwrap(), NoTls);
    Pool::builder(manager).max_size(2).build().unwrap()
}

#[tokio::test]
async fn what_commits_is_delivered_and_what_is_rolled_back_is_not() {
    let shop = Shop::open().await;
    let mut client = pool(&shop).get().await.unwrap();

    let mut tx = client.transaction().await.unwrap();
    let staged = shop.outbox.publish(&mut *tx, event()).await.unwrap();
    tx.rollback().await.unwrap();
    staged.dispatch();
    let mut tx = client.transaction().await.unwrap();
    tx.execute("insert into users values ('Ada')", &[]).await.unwrap();
    let staged = shop.outbox.publish(&mut *tx, event()).await.unwrap();
    let ids = vec![staged.id()];
    tx.commit().await.unwrap();
    staged.dispatch();

    shop.expect(ids, 1).await;
}

#[tokio::test]
async fn a_repeat_leaves_the_transaction_usable() {
    let shop = Shop::open().await;
    let mut client = pool(&shop).get().await.unwrap();

    let mut tx = client.transaction().await.unwrap();
    let first = shop.outbox.publish(&mut *tx, once()).await.unwrap();
    let ids = vec![first.id()];
    let repeat = shop.outbox.publish(&mut *tx, once()).await.unwrap();
    expect_repeat(&first, &repeat);
    tx.execute("insert into users values ('Ada')", &[]).await.unwrap();
    tx.commit().await.unwrap();
    first.dispatch();

    shop.expect(ids, 1).await;
}
