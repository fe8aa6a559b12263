//! Many events in one statement.

use posthaste::Event;

use crate::fixture::{Fixture, listening, next};

const EVENTS: i64 = 10_000;

#[tokio::test]
async fn ten_thousand_events_are_published_in_one_statement_and_arrive_in_order() {
    let shop = Fixture::new().await;
    let count_inserts = "create table inserts (n int); \
         create function count_insert() returns trigger language plpgsql as \
         $$ begin insert into inserts values (1); return null; end $$; \
         create trigger counted after insert on outbox for each statement execute function count_insert()";
    sqlx::raw_sql(count_inserts).execute(&shop.pool).await.unwrap();

    let mut tx = shop.pool.begin().await.unwrap();
    let events = (0..EVENTS).map(|n| Event::of("counted").key("one").json(&n).unwrap());
    let staged = shop.outbox.publish_many(&mut tx, events).await.unwrap();
    let positions: Vec<_> = staged.published().iter().map(|published| published.spot).collect();
    shop.outbox.commit(tx, staged).await.unwrap();

    assert!(positions.is_sorted_by(|a, b| a < b), "the log has them in the order given");
    assert_eq!((shop.rows("outbox").await, shop.rows("inserts").await), (EVENTS, 1));
    let (relay, mut hears) = listening(&shop.outbox);
    let relay = relay.start().await.unwrap();
    for n in 0..EVENTS {
        assert_eq!(next(&mut hears).await.json::<i64>().unwrap(), n);
    }
    relay.stop().await;
    shop.close().await;
}
