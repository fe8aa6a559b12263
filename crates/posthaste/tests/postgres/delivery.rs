//! From the commit to the listener: by the hot path, by the log, or not at all.

use std::time::{Duration, Instant};

use posthaste::{DeadFilter, Edit, Event, EventId, OperatorAct, event_types, postgres};
use sqlx::Connection;
use tokio::sync::mpsc;

use crate::{
    counters::Counters,
    fixture::{Fixture, event, listening, next, next_id, seldom_polling},
};

event_types! { enum UserEvent { Created = "user.created" } }

/// What an application's own errors often are.
type Trouble = Box<dyn std::error::Error + Send + Sync>;

#[tokio::test]
async fn an_application_publishes_in_its_transaction_and_its_listener_hears_of_it() {
    let shop = Fixture::new().await;
    let (heard, mut hears) = mpsc::channel(1);
    let relay = shop.outbox.relay().settings(seldom_polling()).listen(UserEvent::Created, move |event| {
        let heard = heard.clone();
        async move { Ok(heard.send((event.aggregate_id.clone(), event.json::<String>()?)).await?) }
    });
    let relay = shop.start(relay).await;

    let pool = postgres::pool(&shop.database.url()).await.unwrap();
    let mut tx = postgres::begin(&pool).await.unwrap();
    sqlx::query("insert into users values ('Ada')").execute(&mut *tx).await.unwrap();
    let created = Event::of(UserEvent::Created).aggregate("user", "42").json(&"Ada").unwrap();
    let staged = shop.outbox.publish(&mut tx, created).await.unwrap();
    tx.commit().await.unwrap();
    let committed = Instant::now();
    staged.dispatch();

    let heard = tokio::time::timeout(Duration::from_secs(5), hears.recv()).await;
    assert_eq!(heard.expect("the next poll is too late").unwrap(), (Some("42".to_owned()), "Ada".to_owned()));
    assert!(committed.elapsed() < Duration::from_secs(5));
    assert_eq!(shop.rows("users").await, 1);
    shop.wait_until_settled(1).await;
    relay.stop().await;
    shop.close().await;
}

#[tokio::test]
async fn what_has_no_order_is_delivered_from_memory_and_once() {
    let counters = Counters::default();
    let _recording = metrics::set_default_local_recorder(&counters);
    let shop = Fixture::new().await;
    let (relay, mut hears) = listening(&shop.outbox);
    let relay = shop.start(relay).await;

    // The log may have been read between a commit and its dispatch; then that event needs no shortcut.
    let mut published = 0;
    while counters.get("outbox_hot_delivered_total") == 0 {
        let mut tx = shop.pool.begin().await.unwrap();
        let staged = shop.outbox.publish(&mut tx, event("user.created")).await.unwrap();
        let id = staged.id();
        shop.outbox.commit(tx, staged).await.unwrap();
        published += 1;
        assert_eq!(counters.get("outbox_hot_enqueued_total"), published, "the relay has it in memory");
        assert_eq!(next_id(&mut hears).await, id);
    }

    shop.wait_until_settled(published).await;
    relay.stop().await;
    assert!(hears.try_recv().is_err(), "nothing was delivered twice");
    shop.close().await;
}

#[tokio::test]
async fn what_is_rolled_back_is_never_heard_of() {
    let shop = Fixture::new().await;
    let (relay, mut hears) = listening(&shop.outbox);
    let relay = shop.start(relay).await;

    let mut tx = shop.pool.begin().await.unwrap();
    sqlx::query("insert into users values ('Ada')").execute(&mut *tx).await.unwrap();
    let staged = shop.outbox.publish(&mut tx, event("user.created")).await.unwrap();
    tx.rollback().await.unwrap();
    staged.dispatch();
    let mut dropped = shop.pool.begin().await.unwrap();
    let staged = shop.outbox.publish(&mut dropped, event("user.created")).await.unwrap();
    drop(dropped);
    staged.dispatch();
    let answer: Result<(), Trouble> = shop
        .outbox
        .transaction(&shop.pool, async |tx| {
            sqlx::query("insert into users values ('Ada')").execute(&mut ***tx).await?;
            tx.publish(event("user.created")).await?;
            Err("declined".into())
        })
        .await;
    let marker =
        shop.outbox.transaction(&shop.pool, async |tx| tx.publish(event("marker")).await).await.unwrap();

    assert_eq!(answer.unwrap_err().to_string(), "declined");
    assert_eq!(next_id(&mut hears).await, marker.id, "nobody heard of what was rolled back");
    assert_eq!((shop.rows("users").await, shop.rows("outbox").await), (0, 1));
    relay.stop().await;
    assert!(hears.try_recv().is_err());
    shop.close().await;
}

#[tokio::test]
async fn what_its_savepoint_took_back_is_never_delivered() {
    let shop = Fixture::new().await;
    let (relay, mut hears) = listening(&shop.outbox);
    let relay = shop.start(relay).await;

    let mut tx = shop.pool.begin().await.unwrap();
    let mut savepoint = tx.begin().await.unwrap();
    let taken_back = shop.outbox.publish(&mut savepoint, event("taken.back")).await.unwrap();
    savepoint.rollback().await.unwrap();
    let kept = shop.outbox.publish(&mut tx, event("kept")).await.unwrap();
    let id = kept.id();
    shop.outbox.commit(tx, taken_back).await.unwrap();
    kept.dispatch();

    assert_eq!(next_id(&mut hears).await, id);
    shop.wait_until_settled(1).await;
    relay.stop().await;
    assert!(hears.try_recv().is_err(), "nothing else came");
    shop.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[expect(clippy::disallowed_methods, reason = "that it can be spawned is what is tested")]
async fn works_in_a_spawned_task() {
    let shop = Fixture::new().await;
    let (relay, mut hears) = listening(&shop.outbox);
    let relay = shop.start(relay).await;

    let (outbox, pool) = (shop.outbox.clone(), shop.pool.clone());
    let task = tokio::spawn(async move {
        let mut tx = pool.begin().await?;
        let staged = outbox.publish(&mut tx, event("first").key("k")).await?;
        outbox.commit(tx, staged).await?;
        outbox
            .transaction(&pool, async |tx| {
                sqlx::query("insert into users values ('Ada')").execute(&mut ***tx).await?;
                tx.publish_many([event("second").key("k"), event("third").key("k")]).await?;
                Ok::<_, Trouble>(())
            })
            .await
    });
    task.await.unwrap().unwrap();

    let mut heard = Vec::new();
    for _ in 0..3 {
        heard.push(next(&mut hears).await.event_type.to_string());
    }
    assert_eq!(heard, ["first", "second", "third"]);
    relay.stop().await;
    shop.close().await;
}

#[tokio::test]
async fn a_payload_over_the_outboxs_limit_is_a_dead_letter_if_plain_sql_wrote_it() {
    let database = crate::database::Database::create().await;
    let outbox = posthaste::Outbox::builder(database.url()).payload_limit(100).open().await.unwrap();
    let pool = postgres::pool(&database.url()).await.unwrap();
    let insert =
        "insert into outbox (topic, event_type, payload) values ('t', $1, to_json(repeat('x', $2))::text)";
    for (event_type, size) in [("large", 200), ("small", 20)] {
        sqlx::query(insert).bind(event_type).bind(size).execute(&pool).await.unwrap();
    }
    let (relay, mut hears) = listening(&outbox);

    let relay = relay.start().await.unwrap();

    assert_eq!(next(&mut hears).await.event_type, "small");
    relay.stop().await;
    assert!(hears.try_recv().is_err(), "the large one was not delivered");
    let dead: String =
        sqlx::query_scalar("select event_type from outbox_dead").fetch_one(&pool).await.unwrap();
    assert_eq!(dead, "large");
    database.close().await;
}

#[tokio::test]
async fn a_row_with_two_payloads_is_a_dead_letter_that_can_be_mended() {
    let shop = Fixture::new().await;
    sqlx::raw_sql(
        "insert into outbox (topic, event_type, content_type, payload, payload_bytes) values
           ('t', 'two', 'text/plain', 'one', 'another');
         insert into outbox (topic, event_type, payload) values ('t', 'sound', '1')",
    )
    .execute(&shop.pool)
    .await
    .unwrap();
    let (relay, mut hears) = listening(&shop.outbox);
    let relay = shop.start(relay).await;
    assert_eq!(next(&mut hears).await.event_type, "sound");
    shop.wait_until("it is a dead letter", async || shop.rows("outbox_dead").await == 1).await;

    let admin = shop.outbox.admin();
    let letter = admin.dead(&DeadFilter::default()).await.unwrap().items.remove(0);
    assert!(letter.error.contains("it has a payload and payload_bytes"), "{letter:?}");
    let edit = Edit { payload: Some("a third".to_owned()), ..Edit::default() };
    let new_id = EventId::from_bytes([7; 16]);
    admin.act(&OperatorAct::Edit { dead_id: letter.dead_id, edit, new_id }, "ops").await.unwrap();

    let mended = next(&mut hears).await;
    assert_eq!((mended.id, mended.payload.as_bytes()), (new_id, &b"a third"[..]));
    relay.stop().await;
    shop.close().await;
}

#[tokio::test]
async fn an_outbox_behind_a_pooler_keeps_nothing_in_a_session() {
    let shop = Fixture::new().await;
    let pooled = posthaste::Outbox::builder(shop.database.url()).behind_a_pooler().open().await.unwrap();
    let (relay, mut hears) = listening(&pooled);
    let relay = shop.start(relay).await;

    let events = [event("first").key("k"), event("second").key("k")];
    let published = pooled.transaction(&shop.pool, async |tx| tx.publish_many(events).await).await.unwrap();

    assert_eq!([next_id(&mut hears).await, next_id(&mut hears).await], [published[0].id, published[1].id]);
    shop.wait_until_settled(2).await;
    let kept =
        "select count(*) from pg_stat_activity where datname = current_database() and query ilike 'listen %'";
    let listeners: i64 = sqlx::query_scalar(kept).fetch_one(&shop.pool).await.unwrap();
    assert_eq!(listeners, 0, "nobody listens");
    relay.stop().await;
    shop.close().await;
}
