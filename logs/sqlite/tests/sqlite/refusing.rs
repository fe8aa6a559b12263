//! A database that does not take a row: a constraint or a trigger of somebody's. Only the lane of that row waits.

use std::{sync::Arc, time::Duration};

use posthaste_core::{Fault, Subscription, SystemClock};
use posthaste_relay::{RelayBuilder, Stopped};
use posthaste_testkit::FlakySink;
use tokio::time::{Instant, sleep};

use crate::fixture::{Fixture, REFUSE_DEAD, SUB, keyed};

#[tokio::test]
async fn one_row_that_is_refused_stops_one_lane() {
    let fixture = Fixture::new().await;
    fixture.sql(REFUSE_DEAD).await.unwrap();
    let sink = FlakySink::new(Arc::new(SystemClock));
    let relay = RelayBuilder::new(Arc::new(fixture.log.clone()))
        .subscribe(Subscription::new(SUB), Arc::new(sink.clone()))
        .start()
        .await
        .unwrap();
    let bad = fixture.build(keyed("bad"));
    sink.fail_always(bad.id, Fault::permanent("never"));
    let mut tx = posthaste_sqlite::begin(fixture.log.pool()).await.unwrap();
    let bad = posthaste_sqlite::publish(&mut tx, "outbox", &[bad]).await.unwrap()[0];
    posthaste_sqlite::commit(tx).await.unwrap();

    let mut healthy = 0;
    for round in 0..3 {
        let sent = fixture.publish((0..40).map(|number| keyed(&format!("key-{number}")))).await;
        healthy += sent.iter().filter(|sent| sent.spot.unwrap().lane != bad.spot.unwrap().lane).count();
        settled(&fixture, healthy, &format!("round {round}")).await;
    }
    assert_eq!(fixture.number("select count(*) from outbox_dead").await, 0);

    fixture.sql("drop trigger refuse").await.unwrap();
    settled(&fixture, 120, "after it was mended").await;
    assert_eq!(fixture.number("select count(*) from outbox_dead").await, 1);
    assert_eq!(sink.received().len(), 120, "nothing was sent again");
    assert_eq!(relay.stop().await, Stopped::Cleanly);
}

/// Waits until the lines tell of as many deliveries.
async fn settled(fixture: &Fixture, count: usize, when: &str) {
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        let delivered = fixture.number("select coalesce(sum(delivered), 0) from outbox_lines").await;
        if usize::try_from(delivered) == Ok(count) {
            return;
        }
        assert!(Instant::now() < end, "{delivered} of {count} are settled {when}");
        // Waits for a condition.
        sleep(Duration::from_millis(5)).await;
    }
}
