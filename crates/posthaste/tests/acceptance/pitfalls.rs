//! Bugs that others had, tried on a real file. The numbers are those of `docs/pitfalls.md`.

use std::{future::Future, pin::Pin, sync::Arc, time::Duration};

use posthaste::{
    ListenerError, Listeners, Outbox, Received, RelayBuilder, Settings, StatusWord, Subscription, sqlite,
};
use tokio::{
    sync::{Semaphore, mpsc},
    time::timeout,
};

use crate::{
    counters::Counters,
    fixture::{Fixture, event, next},
};

/// A relay with one listener for everything, and what it hears.
fn listening(outbox: &Outbox) -> (RelayBuilder, mpsc::Receiver<String>) {
    let (heard, hears) = mpsc::channel(1_000);
    (outbox.relay().listen_all(note(heard)), hears)
}

type Noting = Pin<Box<dyn Future<Output = Result<(), ListenerError>> + Send>>;

/// A listener that says which type it got.
fn note(heard: mpsc::Sender<String>) -> impl Fn(Received) -> Noting + Send + Sync + 'static {
    move |event| {
        let heard = heard.clone();
        Box::pin(async move { Ok(heard.send(event.event_type.to_string()).await?) })
    }
}

async fn publish(shop: &Fixture, event_type: &'static str) {
    let publishing =
        shop.outbox.transaction(&shop.pool, async |tx| tx.publish(event(event_type).key(event_type)).await);
    publishing.await.unwrap();
}

// pitfall L1: a position is taken before the commit, and what commits late is skipped.
#[tokio::test]
async fn who_writes_later_gets_a_later_position_however_long_the_first_takes() {
    let shop = Fixture::new().await;
    let (relay, mut hears) = listening(&shop.outbox);
    let relay = shop.start(relay).await;
    let mut slow = sqlite::begin(&shop.pool).await.unwrap();
    let first = shop.outbox.publish(&mut slow, event("first").key("k")).await.unwrap();

    let mut beginning = Box::pin(sqlite::begin(&shop.pool));
    let early = timeout(Duration::from_millis(50), &mut beginning).await;
    assert!(early.is_err(), "nobody takes a position while another has one that is not committed");
    slow.commit().await.unwrap();
    let mut quick = beginning.await.unwrap();
    let second = shop.outbox.publish(&mut quick, event("second").key("k")).await.unwrap();
    quick.commit().await.unwrap();

    assert!(first.published()[0].spot < second.published()[0].spot);
    assert_eq!([next(&mut hears).await, next(&mut hears).await], ["first", "second"]);
    relay.stop().await;
}

// pitfalls L2, S23: a transaction that is open longer than any window or lease.
#[tokio::test]
async fn a_transaction_that_outlasts_the_lease_delays_and_loses_nothing() {
    let shop = Fixture::new().await;
    let (relay, mut hears) = listening(&shop.outbox);
    let settings = Settings { lease: Duration::from_millis(500), ..Settings::default() };
    let relay = shop.start(relay.settings(settings)).await;
    publish(&shop, "before").await;
    assert_eq!(next(&mut hears).await, "before");

    let mut long = sqlite::begin(&shop.pool).await.unwrap();
    let staged = shop.outbox.publish(&mut long, event("during").key("during")).await.unwrap();
    let lapsed = "select count(*) = 0 from outbox_relays where held_until > unixepoch('subsec') * 1000000";
    shop.wait_until("the lease is over", async || {
        sqlx::query_scalar(lapsed).fetch_one(&shop.pool).await.unwrap()
    })
    .await;
    shop.outbox.commit(long, staged).await.unwrap();
    publish(&shop, "after").await;

    let mut rest = [next(&mut hears).await, next(&mut hears).await];
    rest.sort();
    assert_eq!(rest, ["after", "during"]);
    relay.stop().await;
    assert!(hears.try_recv().is_err(), "nothing was delivered twice");
}

// pitfall L17: after a restore nothing is delivered, because what the cursor counts by begins anew.
#[tokio::test]
async fn a_restored_backup_goes_on_where_it_was() {
    let shop = Fixture::new().await;
    let (relay, mut hears) = listening(&shop.outbox);
    let relay = shop.start(relay).await;
    publish(&shop, "settled").await;
    assert_eq!(next(&mut hears).await, "settled");
    relay.stop().await;
    publish(&shop, "waiting").await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("restored.db").display().to_string();
    sqlx::query("vacuum into ?1").bind(&path).execute(&shop.pool).await.unwrap();

    let restored = Outbox::open(&format!("sqlite://{path}")).await.unwrap();
    let (relay, mut hears) = listening(&restored);
    let relay = relay.start().await.unwrap();
    assert_eq!(next(&mut hears).await, "waiting", "and not what was settled");
    let pool = sqlite::pool(&format!("sqlite://{path}")).await.unwrap();
    let publishing = restored.transaction(&pool, async |tx| tx.publish(event("new").key("new")).await);
    publishing.await.unwrap();
    assert_eq!(next(&mut hears).await, "new");
    relay.stop().await;
}

// pitfall D4: no connection is left for the heartbeat.
#[tokio::test]
async fn an_application_that_uses_up_its_connections_does_not_stop_the_relay() {
    let shop = Fixture::new().await;
    let (relay, mut hears) = listening(&shop.outbox);
    let relay = shop.start(relay).await;
    let mut taken = Vec::new();
    for _ in 0..shop.pool.options().get_max_connections() {
        taken.push(shop.pool.acquire().await.unwrap());
    }
    assert!(shop.pool.try_acquire().is_none());

    let insert = "insert into outbox (topic, event_type, payload) values ('t', 'alone', '{}')";
    sqlx::query(insert).execute(&mut *taken[0]).await.unwrap();

    assert_eq!(next(&mut hears).await, "alone");
    relay.stop().await;
}

// pitfall D26: one of two targets fails, and the other gets the event again.
#[tokio::test]
async fn a_subscription_that_fails_repeats_nothing_in_another() {
    let shop = Fixture::new().await;
    let (heard, mut hears) = mpsc::channel(10);
    let mails = Listeners::new().on_all(move |event| {
        let heard = heard.clone();
        async move {
            heard.send(event.attempt()).await?;
            if event.attempt() < 3 { Err(ListenerError::transient("not now")) } else { Ok(()) }
        }
    });
    let (audit, mut audits) = mpsc::channel(10);
    let audit = Listeners::new().on_all(note(audit));
    let relay = shop.outbox.relay();
    let relay = relay.subscribe(Subscription::new("mails"), mails);
    let relay = shop.start(relay.subscribe(Subscription::new("audit"), audit)).await;

    publish(&shop, "placed").await;

    assert_eq!([next(&mut hears).await, next(&mut hears).await, next(&mut hears).await], [1, 2, 3]);
    assert_eq!(next(&mut audits).await, "placed");
    relay.stop().await;
    assert!(audits.try_recv().is_err(), "it was told once");
}

// pitfalls S3, B22: a long delivery holds a lock, and everybody else waits.
#[tokio::test]
async fn a_slow_listener_holds_no_lock() {
    let shop = Fixture::new().await;
    let gate = Arc::new(Semaphore::new(0));
    let (heard, mut hears) = mpsc::channel(10);
    let listener_gate = Arc::clone(&gate);
    let relay = shop.outbox.relay().listen_all(move |event| {
        let (gate, heard) = (Arc::clone(&listener_gate), heard.clone());
        async move {
            heard.send(event.event_type.to_string()).await?;
            drop(gate.acquire().await?);
            Ok(())
        }
    });
    let relay = shop.start(relay).await;
    publish(&shop, "slow").await;
    assert_eq!(next(&mut hears).await, "slow");

    let writing = async {
        for _ in 0..20 {
            sqlx::query("insert into users values ('Ada')").execute(&shop.pool).await.unwrap();
        }
    };
    timeout(Duration::from_secs(4), writing).await.expect("writers need not wait for a delivery");

    gate.add_permits(1);
    relay.stop().await;
}

// pitfalls S14, L28, D17: what happened cannot be written down.
#[tokio::test]
async fn a_dead_letter_that_cannot_be_written_is_written_later_and_nothing_is_sent_again() {
    let counters = Counters::default();
    let _recording = metrics::set_default_local_recorder(&counters);
    let shop = Fixture::new().await;
    let broken =
        "create trigger broken before insert on outbox_dead begin select raise(abort, 'broken'); end";
    sqlx::query(broken).execute(&shop.pool).await.unwrap();
    let (heard, mut hears) = mpsc::channel(100);
    let relay = shop.outbox.relay().listen_all(move |event| {
        let heard = heard.clone();
        async move {
            heard.send(event.event_type.to_string()).await?;
            if event.event_type == "bad" { Err(ListenerError::permanent("never")) } else { Ok(()) }
        }
    });
    let relay = shop.start(relay).await;
    let bad = shop.outbox.transaction(&shop.pool, async |tx| tx.publish(event("bad").key("bad")).await);
    let bad = bad.await.unwrap().id;
    publish(&shop, "good").await;
    let mut said = [next(&mut hears).await, next(&mut hears).await];
    said.sort();
    assert_eq!(said, ["bad", "good"]);

    shop.wait_until("it is complained of", async || counters.get("outbox_loop_errors_total") > 1).await;
    assert_eq!((shop.rows("outbox_dead").await, shop.rows("outbox_journal").await), (0, 0));
    sqlx::query("drop trigger broken").execute(&shop.pool).await.unwrap();

    shop.wait_for_status(bad, StatusWord::Dead).await;
    relay.stop().await;
    assert_eq!((shop.rows("outbox_dead").await, shop.rows("outbox_journal").await), (1, 1));
    assert!(hears.try_recv().is_err(), "nothing was sent again");
}

// pitfalls B1, B8, B14: rows that change in step with the load.
#[tokio::test]
async fn without_trouble_no_row_of_the_log_is_updated_or_deleted() {
    let counters = Counters::default();
    let _recording = metrics::set_default_local_recorder(&counters);
    let shop = Fixture::new().await;
    for table in ["outbox", "outbox_lines", "outbox_parked", "outbox_dead", "outbox_journal"] {
        for act in ["update", "delete"] {
            let refuse = format!(
                "create trigger no_{act}_{table} before {act} on {table} begin select raise(abort, 'no'); end"
            );
            sqlx::query(sqlx::AssertSqlSafe(refuse)).execute(&shop.pool).await.unwrap();
        }
    }
    let (relay, mut hears) = listening(&shop.outbox);
    let relay = shop.start(relay).await;

    for batch in 0..10 {
        let events = (0..50).map(|n| event("counted").key(format!("key-{}", n % 7)));
        let publishing = shop
            .outbox
            .transaction(&shop.pool, async |tx| tx.publish_many(events.chain([event("hot")])).await);
        publishing.await.unwrap();
        for _ in 0..51 {
            next(&mut hears).await;
        }
        assert_eq!(shop.rows("outbox").await, (batch + 1) * 51);
    }

    relay.stop().await;
    let status = shop.outbox.admin().status().await.unwrap();
    assert_eq!((status.subscriptions[0].delivered, status.subscriptions[0].pending), (510, 0));
    assert_eq!(counters.get("outbox_loop_errors_total"), 0);
    let trap = sqlx::query("update outbox set topic = 'x'").execute(&shop.pool).await;
    assert!(trap.is_err(), "it would have been noticed");
}
