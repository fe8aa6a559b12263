//! Publishing in a transaction of the application's, beside its own statements.

use posthaste_core::{
    ErrorKind, Event, EventBuilder, Log, Payload, Published, RetryOverrides, Timestamp, Unpublished,
};
use posthaste_postgres::Place;

use crate::fixture::{Fixture, everything, keyed};

#[tokio::test]
async fn data_and_events_are_committed_or_rolled_back_together() {
    let fixture = Fixture::new().await;
    let orders = format!("\"{}\".orders", fixture.schema.name);
    fixture.run(&format!("create table {orders} (id integer)")).await.unwrap();

    for (commits, count) in [(false, 0), (true, 1)] {
        let mut tx = fixture.begin().await;
        let insert = sqlx::AssertSqlSafe(format!("insert into {orders} values (1)"));
        sqlx::query(insert).execute(&mut *tx).await.unwrap();
        fixture.publish_in(&mut tx, [keyed("a")]).await;
        if commits {
            posthaste_postgres::commit(tx).await.unwrap();
        } else {
            tx.rollback().await.unwrap();
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
    let place = fixture.log.place();
    let mut tx = fixture.begin().await;
    posthaste_postgres::publish(&mut *tx, place, std::slice::from_ref(&used)).await.unwrap();

    let again = Event { key: Some("b".to_owned()), ..used.clone() };
    let error = posthaste_postgres::publish(&mut *tx, place, &[numbered(), again]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.to_string().contains(&used.id.to_string()), "{error}");
    let published = posthaste_postgres::publish(&mut *tx, place, &[numbered()]).await.unwrap();
    posthaste_postgres::commit(tx).await.unwrap();

    assert_eq!(published[0].version, Some(1), "the number of the failed one is free again");
    assert_eq!(fixture.number("select count(*) from outbox").await, 2);
}

#[tokio::test]
async fn one_event_by_itself_is_stored_as_one_of_many() {
    let fixture = Fixture::new().await;
    let texts = || {
        let draft = keyed("k\"\\ü'").aggregate("order", "7,{}").version(3).tenant("null").correlation("$1");
        let draft = draft.header("a", "\"b\"").event_version("2.0.0").deliver_after(Timestamp(5_000_001));
        draft.retry(RetryOverrides { max_attempts: Some(3), ..RetryOverrides::default() })
    };
    let bytes =
        || Event::of("order.placed").topic("orders").key("b").bytes([0, 1, 255], "application/octet-stream");
    for draft in [&texts as &dyn Fn() -> EventBuilder, &bytes] {
        let one = fixture.publish([draft()]).await;
        let unasked = fixture.publish_unasked(draft()).await;
        assert_eq!(unasked.spot, None);
        let many = fixture.publish([draft(), keyed("another")]).await;

        let page = fixture.page().await;
        let entry = |id| page.entries.iter().find(|entry| entry.event.id == id).unwrap();
        let other = entry(many[0].id);
        for one in [entry(one[0].id), entry(unasked.id)] {
            assert_eq!(Event { id: other.event.id, ..one.event.clone() }, other.event);
            assert_eq!((one.lane, &one.defect), (other.lane, &None));
        }
    }
}

/// A trigger of somebody else's can keep a row out without an error.
#[tokio::test]
async fn an_event_that_was_not_written_is_told() {
    let fixture = Fixture::new().await;
    fixture
        .run(
            "create function swallow() returns trigger language plpgsql as $$ begin return null; end $$;
             create trigger swallow before insert on outbox for each row execute function swallow()",
        )
        .await
        .unwrap();
    let events = [fixture.build(keyed("a"))];
    let mut tx = fixture.begin().await;

    for spots in [true, false] {
        let unpublished = Unpublished { events: &events, fresh: true, spots };
        let error =
            posthaste_postgres::publish(&mut *tx, fixture.log.place(), unpublished).await.unwrap_err();
        assert!(error.to_string().starts_with("publish"), "{error}");
    }
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
    let gaps = "select count(*) from (select aggregate_id from outbox where version is not null group by aggregate_id
        having max(version) <> count(*) or min(version) <> 1) gaps";
    assert_eq!(fixture.number(gaps).await, 0);
    let disorder = "select count(*) from outbox a join outbox b on a.aggregate_id = b.aggregate_id
        and a.position < b.position and a.version >= b.version";
    assert_eq!(fixture.number(disorder).await, 0);
}

#[tokio::test]
async fn zero_bytes_that_postgres_cannot_store_are_told_and_the_transaction_goes_on() {
    let fixture = Fixture::new().await;
    fixture.log.subscribe(&posthaste_core::Subscription::new(crate::fixture::SUB)).await.unwrap();
    let place = fixture.log.place();
    let refused: [(&str, EventBuilder); 7] = [
        ("key", keyed("a\0b")),
        ("topic", keyed("a").topic("t\0")),
        ("event type", Event::of("e\0").payload(Payload::Json("1".to_owned()))),
        ("aggregate id", keyed("a").aggregate("order", "7\0")),
        ("idempotency key", keyed("a").idempotency_key("\0")),
        ("content type", Event::of("e").bytes("x", "text/\0")),
        ("payload", Event::of("e").payload(Payload::Json("\"\0\"".to_owned()))),
    ];
    let mut tx = fixture.begin().await;
    for (what, draft) in refused {
        let event = fixture.build(draft);
        let error = posthaste_postgres::publish(&mut *tx, place, &[event]).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{}", error.chain());
        assert!(error.to_string().contains(what) && error.to_string().contains("zero byte"), "{error}");
    }
    let kept = [
        Event::of("bytes").bytes(b"a\0b".as_slice(), "application/octet-stream"),
        Event::of("escaped").json(&"a\0b").unwrap(),
        keyed("a").header("trace", "a\0b"),
    ];
    let kept: Vec<Event> = kept.into_iter().map(|draft| fixture.build(draft)).collect();
    posthaste_postgres::publish(&mut *tx, place, &kept).await.unwrap();
    posthaste_postgres::commit(tx).await.unwrap();

    let entries = fixture.log.read(&everything()).await.unwrap().entries;
    let read: Vec<&Event> = entries.iter().map(|entry| &entry.event).collect();
    assert_eq!(read, kept.iter().collect::<Vec<_>>(), "bytes and what is escaped come back as they were");
    assert!(entries.iter().all(|entry| entry.defect.is_none()));
}

#[tokio::test]
async fn tables_that_are_not_there_are_told() {
    let fixture = Fixture::new().await;
    let mut tx = fixture.begin().await;
    let event = [fixture.build(keyed("a"))];

    let elsewhere = Place::new(Some(&fixture.schema.name), "other").unwrap();
    let missing = posthaste_postgres::publish(&mut *tx, &elsewhere, &event).await.unwrap_err();

    assert_eq!(missing.kind(), ErrorKind::Schema);
    assert!(missing.to_string().contains("posthaste migrate"), "{missing}");
    assert!(Place::new(None, "outbox\"; drop table outbox; --").is_err());
}

#[tokio::test]
async fn who_publishes_twice_at_once_waits_and_is_answered_with_the_first() {
    let fixture = Fixture::new().await;
    let mut first = fixture.begin().await;
    let published = fixture.publish_in(&mut first, [keyed("a").idempotency_key("once")]).await;

    let mut second = fixture.begin().await;
    let drafts = [keyed("b").idempotency_key("once"), keyed("c")];
    let waiting = fixture.publish_in(&mut second, drafts);
    let (answers, ()) = tokio::join!(waiting, async {
        fixture.wait_for_who_waits_for(&mut first, 1).await;
        first.commit().await.unwrap();
    });
    second.commit().await.unwrap();

    assert_eq!(answers[0], Published { duplicate: true, ..published[0] });
    assert!(!answers[1].duplicate);
    assert_eq!(fixture.number("select count(*) from outbox").await, 2);
}
