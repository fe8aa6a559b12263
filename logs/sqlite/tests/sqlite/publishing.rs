//! Publishing in a transaction of the application's, beside its own statements.

use posthaste_core::{ErrorKind, Event, Published};

use crate::fixture::{Fixture, keyed};

#[tokio::test]
async fn data_and_events_are_committed_or_rolled_back_together() {
    let fixture = Fixture::new().await;
    fixture.sql("create table orders (id integer)").await.unwrap();

    for (commits, count) in [(false, 0), (true, 1)] {
        let mut tx = posthaste_sqlite::begin(fixture.log.pool()).await.unwrap();
        sqlx::query("insert into orders values (1)").execute(&mut *tx).await.unwrap();
        posthaste_sqlite::publish(&mut tx, "outbox", &[fixture.build(keyed("a"))]).await.unwrap();
        if commits {
            posthaste_sqlite::commit(tx).await.unwrap();
        } else {
            drop(tx);
        }

        assert_eq!(fixture.number("select count(*) from orders").await, count);
        assert_eq!(fixture.number("select count(*) from outbox").await, count);
    }
}

#[tokio::test]
async fn a_publish_that_fails_leaves_nothing_in_a_transaction_that_goes_on() {
    let fixture = Fixture::new().await;
    let used = fixture.build(keyed("a"));
    let numbered = || fixture.build(keyed("a").aggregate("order", 7).next_version());
    let mut tx = posthaste_sqlite::begin(fixture.log.pool()).await.unwrap();
    posthaste_sqlite::publish(&mut tx, "outbox", std::slice::from_ref(&used)).await.unwrap();

    let again = Event { key: Some("b".to_owned()), ..used.clone() };
    let error = posthaste_sqlite::publish(&mut tx, "outbox", &[numbered(), again]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.to_string().contains(&used.id.to_string()), "{error}");
    let published = posthaste_sqlite::publish(&mut tx, "outbox", &[numbered()]).await.unwrap();
    posthaste_sqlite::commit(tx).await.unwrap();

    assert_eq!(published[0].version, Some(1), "the number of the failed one is free again");
    assert_eq!(fixture.number("select count(*) from outbox").await, 2);
}

#[tokio::test]
async fn many_events_are_answered_in_their_order() {
    let fixture = Fixture::new().await;
    let first = fixture.publish([keyed("x").idempotency_key("once")]).await[0];
    let draft = |number: usize| match number % 50 {
        7 => keyed("k").idempotency_key("once"),
        _ => keyed(&format!("key-{number}")).aggregate("order", number % 3).next_version(),
    };

    let published = fixture.publish((0..1_000).map(draft)).await;

    let (again, fresh): (Vec<Published>, Vec<Published>) =
        published.into_iter().partition(|published| published.duplicate);
    assert_eq!((again.len(), fresh.len()), (20, 980));
    assert!(again.iter().all(|published| *published == Published { duplicate: true, ..first }));
    assert!(fresh.is_sorted_by_key(|published| published.spot));
    assert_eq!(fixture.number("select count(*) from outbox").await, 981);
    let gaps = "select count(*) from (select aggregate_id from outbox where version is not null group by aggregate_id
        having max(version) <> count(*) or min(version) <> 1)";
    assert_eq!(fixture.number(gaps).await, 0);
    let disorder = "select count(*) from outbox a join outbox b on a.aggregate_id = b.aggregate_id
        and a.position < b.position and a.version >= b.version";
    assert_eq!(fixture.number(disorder).await, 0);
}

#[tokio::test]
async fn a_prefix_that_has_no_tables_or_could_be_sql_is_refused() {
    let fixture = Fixture::new().await;
    let mut tx = posthaste_sqlite::begin(fixture.log.pool()).await.unwrap();
    let event = [fixture.build(keyed("a"))];

    let missing = posthaste_sqlite::publish(&mut tx, "other", &event).await.unwrap_err();
    let unsafe_one =
        posthaste_sqlite::publish(&mut tx, "outbox\"; drop table outbox; --", &event).await.unwrap_err();

    assert_eq!((missing.kind(), unsafe_one.kind()), (ErrorKind::Schema, ErrorKind::Invalid));
    assert!(missing.to_string().contains("posthaste migrate"), "{missing}");
    assert!(posthaste_sqlite::publish(&mut tx, "outbox", &event).await.is_ok());
}
