//! Through PgBouncer in transaction mode, where every transaction may meet another session of the server.

use posthaste::{EventId, Outbox, postgres};
use tokio::task::JoinSet;
use tokio_postgres::NoTls;

use crate::fixture::{Shop, event, expect_repeat, once};

const PUBLISHERS: usize = 6;
const EACH: usize = 20;

/// The same database through the pooler.
fn pooled(shop: &Shop) -> String {
    let (url, pooler) = (shop.database.url(), posthaste_services::pgbouncer_url());
    let (_, name) = url.rsplit_once('/').unwrap();
    let (address, _) = pooler.rsplit_once('/').unwrap();
    format!("{address}/{name}")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn transactions_of_sqlx_leave_nothing_behind_for_the_next_to_trip_over() {
    let shop = Shop::open().await;
    let outbox = Outbox::builder(pooled(&shop)).behind_a_pooler().open().await.unwrap();
    let pool = postgres::pool(&pooled(&shop)).await.unwrap();
    let mut publishing = JoinSet::new();
    for _ in 0..PUBLISHERS {
        let (outbox, pool) = (outbox.clone(), pool.clone());
        publishing.spawn(async move {
            let mut ids = Vec::new();
            for _ in 0..EACH {
                let events = [event().key("k"), event().aggregate("user", 1).next_version()];
                let published = outbox.transaction(&pool, async |tx| tx.publish_many(events).await);
                ids.extend(published.await.unwrap().iter().map(|published| published.id));
            }
            ids
        });
    }

    let ids: Vec<EventId> = publishing.join_all().await.concat();
    assert_eq!(ids.len(), PUBLISHERS * EACH * 2);
    shop.expect(ids, 0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn transactions_of_tokio_postgres_neither() {
    let shop = Shop::open().await;
    let outbox = Outbox::builder(pooled(&shop)).behind_a_pooler().open().await.unwrap();
    let mut ids = Vec::new();
    for publisher in 0..PUBLISHERS {
        let (mut client, connection) = tokio_postgres::connect(&pooled(&shop), NoTls).await.unwrap();
        let mut carrying = JoinSet::new();
        carrying.spawn(async move { connection.await.unwrap() });
        let mut tx = client.transaction().await.unwrap();
        let staged = outbox.publish(&mut tx, once()).await.unwrap();
        if publisher == 0 {
            let repeat = outbox.publish(&mut tx, once()).await.unwrap();
            expect_repeat(&staged, &repeat);
            ids.push(staged.id());
        }
        outbox.commit(tx, staged).await.unwrap();
    }

    shop.expect(ids, 0).await;
}
