//! Publishing: repeats, order, numbers in an aggregate, and what is refused.

use posthaste::{ErrorKind, Event, sqlite};
use tokio::sync::mpsc;

use crate::fixture::{Fixture, event, next};

#[tokio::test]
async fn a_repeat_is_answered_with_the_first_id_and_leaves_the_transaction_usable() {
    let shop = Fixture::new().await;
    let payment = || event("payment.made").idempotency_key("payment-7");

    let mut tx = sqlite::begin(&shop.pool).await.unwrap();
    let first = shop.outbox.publish(&mut tx, payment()).await.unwrap();
    let first_id = first.id();
    let repeat = shop.outbox.publish(&mut tx, payment()).await.unwrap();
    sqlx::query("insert into users values ('Ada')").execute(&mut *tx).await.unwrap();
    shop.outbox.commit(tx, first).await.unwrap();
    let mut later = sqlite::begin(&shop.pool).await.unwrap();
    let again = shop.outbox.publish(&mut later, payment()).await.unwrap();
    let elsewhere = shop.outbox.publish(&mut later, payment().topic("other")).await.unwrap();
    later.commit().await.unwrap();

    assert_eq!((repeat.id(), again.id()), (first_id, first_id));
    assert!(repeat.published()[0].duplicate && again.published()[0].duplicate);
    assert!(!elsewhere.published()[0].duplicate, "another topic is another event");
    assert_eq!((shop.rows("outbox").await, shop.rows("users").await), (2, 1));
}

#[tokio::test]
async fn many_events_of_a_key_arrive_in_the_order_in_which_they_were_given() {
    const EVENTS: i64 = 500;
    let shop = Fixture::new().await;
    let (heard, mut hears) = mpsc::channel(1_000);
    let relay = shop.outbox.relay().listen_all(move |event| {
        let heard = heard.clone();
        async move { Ok(heard.send(event.json::<i64>()?).await?) }
    });
    let relay = shop.start(relay).await;

    let mut tx = sqlite::begin(&shop.pool).await.unwrap();
    let events = (0..EVENTS).map(|n| Event::of("counted").key("one").json(&n).unwrap());
    let staged = shop.outbox.publish_many(&mut tx, events).await.unwrap();
    let positions: Vec<_> = staged.published().iter().map(|published| published.spot).collect();
    shop.outbox.commit(tx, staged).await.unwrap();

    assert!(positions.is_sorted(), "the log has them in order");
    for n in 0..EVENTS {
        assert_eq!(next(&mut hears).await, n);
    }
    relay.stop().await;
}

#[tokio::test]
async fn numbers_in_an_aggregate_have_no_gaps() {
    let shop = Fixture::new().await;
    let numbered = |id: &str| event("order.changed").aggregate("order", id).next_version();
    let publish = async |events: Vec<_>, commit: bool| {
        let mut tx = sqlite::begin(&shop.pool).await.unwrap();
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
    assert_eq!(
        publish(vec![numbered("a").idempotency_key("x")], true).await,
        [Some(4)],
        "a repeat draws none"
    );
    assert_eq!(publish(vec![numbered("a")], true).await, [Some(5)]);
}

#[tokio::test]
async fn what_breaks_a_rule_is_refused_and_leaves_the_transaction_usable() {
    let shop = Fixture::new().await;
    let mut tx = sqlite::begin(&shop.pool).await.unwrap();
    let large = Event::of("large").bytes(vec![0; 1_048_577], "application/octet-stream");

    let too_large = shop.outbox.publish(&mut tx, large).await.unwrap_err();
    let nothing = shop.outbox.publish(&mut tx, Event::of("empty")).await.unwrap_err();
    let staged = shop.outbox.publish(&mut tx, event("user.created")).await.unwrap();
    shop.outbox.commit(tx, staged).await.unwrap();

    assert_eq!((too_large.kind(), nothing.kind()), (ErrorKind::Invalid, ErrorKind::Invalid));
    assert!(too_large.to_string().contains("1048577 bytes, and 1048576 are allowed"), "{too_large}");
    assert!(nothing.to_string().contains("no payload"), "{nothing}");
    assert_eq!(shop.rows("outbox").await, 1);
}
