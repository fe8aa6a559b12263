//! Publishing: repeats, connections instead of transactions, and what is refused.

use std::time::Duration;

use posthaste::{
    ErrorKind, Event,
    postgres::{InTransaction, PgConnection},
};
use sqlx::Connection;

use crate::fixture::{Fixture, event, listening};

#[tokio::test]
async fn a_repeat_is_answered_with_the_first_id_and_leaves_the_transaction_usable() {
    let shop = Fixture::new().await;
    let payment = || event("payment.made").idempotency_key("payment-7");

    let mut tx = shop.pool.begin().await.unwrap();
    let first = shop.outbox.publish(&mut tx, payment()).await.unwrap();
    let first_id = first.id();
    let repeat = shop.outbox.publish(&mut tx, payment()).await.unwrap();
    sqlx::query("insert into users values ('Ada')").execute(&mut *tx).await.unwrap();
    shop.outbox.commit(tx, first).await.unwrap();
    let mut later = shop.pool.begin().await.unwrap();
    let again = shop.outbox.publish_many(&mut later, [payment(), payment()]).await.unwrap();
    let elsewhere = shop.outbox.publish(&mut later, payment().topic("other")).await.unwrap();
    sqlx::query("insert into users values ('Grace')").execute(&mut *later).await.unwrap();
    later.commit().await.unwrap();

    assert_eq!((repeat.id(), again.id()), (first_id, first_id));
    assert!(repeat.published()[0].duplicate);
    assert!(again.published().iter().all(|published| published.duplicate && published.id == first_id));
    assert!(!elsewhere.published()[0].duplicate, "another topic is another event");
    assert_eq!((shop.rows("outbox").await, shop.rows("users").await), (2, 2));
    shop.close().await;
}

/// To be told costs the server some work for each event.
#[tokio::test]
async fn asks_where_an_event_is_only_if_a_relay_here_would_deliver_it_from_memory() {
    let shop = Fixture::new().await;
    let mut tx = shop.pool.begin().await.unwrap();
    let mut is_told = async |draft| {
        let staged = shop.outbox.publish(&mut tx, draft).await.unwrap();
        staged.published()[0].spot.is_some()
    };

    assert!(!is_told(event("nobody.here")).await);
    let (relay, _hears) = listening(&shop.outbox);
    let relay = shop.start(relay).await;
    assert!(is_told(event("without.order")).await);
    assert!(!is_told(event("in.order").key("k")).await);
    assert!(!is_told(event("tomorrow").deliver_in(Duration::from_secs(86_400))).await);
    let many = shop.outbox.publish_many(&mut tx, [event("a").key("k"), event("b")]).await.unwrap();
    assert!(many.published().iter().all(|published| published.spot.is_some()), "many are answered anyway");
    tx.rollback().await.unwrap();
    relay.stop().await;
    shop.close().await;
}

#[tokio::test]
async fn numbers_in_an_aggregate_have_no_gaps() {
    let shop = Fixture::new().await;
    let numbered = |id: &str| event("order.changed").aggregate("order", id).next_version();
    let publish = async |events: Vec<_>, commit: bool| {
        let mut tx = shop.pool.begin().await.unwrap();
        let staged = shop.outbox.publish_many(&mut tx, events).await.unwrap();
        let versions: Vec<_> = staged.published().iter().map(|published| published.version).collect();
        if commit {
            shop.outbox.commit(tx, staged).await.unwrap();
        } else {
            tx.rollback().await.unwrap();
        }
        versions
    };

    assert_eq!(
        publish(vec![numbered("a"), numbered("b"), numbered("a")], true).await,
        [Some(1), Some(1), Some(2)]
    );
    assert_eq!(publish(vec![numbered("a")], false).await, [Some(3)], "rolled back");
    assert_eq!(publish(vec![numbered("a"), event("plain")], true).await, [Some(3), None]);
    assert_eq!(publish(vec![numbered("a").idempotency_key("x")], true).await, [Some(4)]);
    let repeat = publish(vec![numbered("a").idempotency_key("x")], true).await;
    assert_eq!(repeat, [Some(4)], "a repeat draws none");
    assert_eq!(publish(vec![numbered("a")], true).await, [Some(5)]);
    shop.close().await;
}

#[tokio::test]
async fn a_connection_in_a_transaction_is_as_good_as_the_transaction() {
    let shop = Fixture::new().await;
    let publish = async |connection: &mut PgConnection| {
        let staged = shop.outbox.publish(&mut InTransaction::of(connection)?, event("user.created")).await?;
        staged.dispatch();
        Ok::<_, posthaste::Error>(())
    };

    let mut tx = shop.pool.begin().await.unwrap();
    publish(&mut tx).await.unwrap();
    tx.rollback().await.unwrap();
    let mut tx = shop.pool.begin().await.unwrap();
    publish(&mut tx).await.unwrap();
    let mut nested = tx.begin().await.unwrap();
    publish(&mut nested).await.unwrap();
    nested.commit().await.unwrap();
    tx.commit().await.unwrap();

    assert_eq!(shop.rows("outbox").await, 2);
    shop.close().await;
}

#[tokio::test]
async fn a_connection_without_a_transaction_is_refused() {
    let shop = Fixture::new().await;
    let mut connection = shop.pool.acquire().await.unwrap();
    let refused = |connection: &mut PgConnection| {
        let error = InTransaction::of(connection).err().expect("there is no transaction");
        assert_eq!(error.kind(), ErrorKind::Refused);
        assert!(error.to_string().contains("no transaction is open on this connection"), "{error}");
    };

    refused(&mut connection);
    connection.begin().await.unwrap().rollback().await.unwrap();
    refused(&mut connection);
    // The driver knows nothing of it, and would not roll it back either if the connection were dropped.
    sqlx::raw_sql("begin").execute(&mut *connection).await.unwrap();
    refused(&mut connection);
    sqlx::raw_sql("rollback").execute(&mut *connection).await.unwrap();
    shop.close().await;
}

#[tokio::test]
async fn what_breaks_a_rule_is_refused_and_leaves_the_transaction_usable() {
    let shop = Fixture::new().await;
    let mut tx = shop.pool.begin().await.unwrap();
    let large = Event::of("large").bytes(vec![0; 1_048_577], "application/octet-stream");

    let too_large = shop.outbox.publish(&mut tx, large).await.unwrap_err();
    let nul = shop.outbox.publish(&mut tx, event("nul").key("a\0b")).await.unwrap_err();
    let good_and_bad = [event("good"), event("bad").aggregate("a", "\0")];
    let half = shop.outbox.publish_many(&mut tx, good_and_bad).await.unwrap_err();
    let staged = shop.outbox.publish(&mut tx, event("user.created")).await.unwrap();
    shop.outbox.commit(tx, staged).await.unwrap();

    for error in [&too_large, &nul, &half] {
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
    }
    assert_eq!(shop.rows("outbox").await, 1, "nothing of what was refused is there");
    shop.close().await;
}

#[tokio::test]
async fn a_transaction_that_the_database_gave_up_says_so() {
    let shop = Fixture::new().await;
    let mut tx = shop.pool.begin().await.unwrap();
    sqlx::query("select 1 / 0").execute(&mut *tx).await.unwrap_err();

    let error = shop.outbox.publish(&mut tx, event("user.created")).await.unwrap_err();

    assert!(error.chain().contains("current transaction is aborted"), "{}", error.chain());
    shop.close().await;
}
