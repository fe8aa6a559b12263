//! Subscribing: a first line for every lane, and generations.

use posthaste_core::{
    Cursor, Filter, OnDead, Order, Pattern, Position, RetryPolicy, Start, Subscription, SubscriptionCensus,
};

use super::{
    Subject,
    bench::{Bench, SUB, keyed, places, positions},
};

pub async fn begins_with_line_one_of_every_lane<S: Subject>(subject: &S) {
    let bench = Bench::new(subject);

    let generation = bench.subscribe(&Subscription::new(SUB)).await;

    let census = bench.census(SUB).await.expect("it is there");
    assert_eq!((generation, census.generation, census.paused), (1, 1, false));
    let lanes: Vec<_> = census.lanes.iter().map(|line| line.lane).collect();
    assert_eq!(lanes, bench.all_lanes().iter().collect::<Vec<_>>(), "every lane, in order");
    for line in census.lanes {
        assert_eq!((line.n, line.holder, line.troubled), (1, None, false));
    }
}

pub async fn begins_at_the_beginning<S: Subject>(subject: &S) {
    let bench = Bench::new(subject);
    let before = bench.publish_one(keyed("a")).await;

    bench.subscribe(&Subscription::new(SUB)).await;

    assert_eq!(cursors(&bench.census(SUB).await.expect("it is there")), [Position(0)]);
    assert_eq!(positions(&bench.page().await.entries), places(&[&before]));
}

pub async fn begins_now_behind_what_is_committed<S: Subject>(subject: &S) {
    let bench = Bench::new(subject);
    let before = bench.publish([keyed("a"), keyed("b"), keyed("c")]).await;

    bench.subscribe(&Subscription { start: Start::Now, ..Subscription::new(SUB) }).await;

    let last = before.iter().map(|sent| sent.position).max().unwrap_or_default();
    assert_eq!(cursors(&bench.census(SUB).await.expect("it is there")), [last]);
    let after = bench.publish_one(keyed("a")).await;
    assert!(after.position > last);
}

pub async fn begins_now_in_an_empty_log<S: Subject>(subject: &S) {
    let bench = Bench::new(subject);

    bench.subscribe(&Subscription { start: Start::Now, ..Subscription::new(SUB) }).await;

    assert_eq!(cursors(&bench.census(SUB).await.expect("it is there")), [Position(0)]);
}

pub async fn finds_what_is_there<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish_one(keyed("a")).await;
    bench.settle(&sent, Vec::new()).await;

    assert_eq!(bench.subscribe(&Subscription::new(SUB)).await, 1);

    let line = bench.line(sent.lane).await;
    assert_eq!((line.n, line.cursor.after), (2, sent.position));
}

pub async fn another_filter_makes_a_new_generation_and_keeps_the_cursors<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish_one(keyed("a")).await;
    bench.settle(&sent, Vec::new()).await;
    let narrow = Filter { types: vec![Pattern::new("user.*")], topics: Vec::new() };
    let other = Subscription { filter: narrow, ..Subscription::new(SUB) };

    assert_eq!(bench.subscribe(&other).await, 2);
    assert_eq!(bench.subscribe(&other).await, 2, "the same filter again changes nothing");
    assert_eq!(bench.subscribe(&Subscription::new(SUB)).await, 3, "the old filter is a change as well");

    let line = bench.line(sent.lane).await;
    assert_eq!((line.n, line.cursor.after), (2, sent.position));
    assert_eq!(bench.census(SUB).await.expect("it is there").generation, 3);
}

pub async fn another_order_makes_a_new_generation<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;

    let generation = bench.subscribe(&Subscription { order: Order::None, ..Subscription::new(SUB) }).await;

    assert_eq!(generation, 2);
}

pub async fn what_is_the_relays_own_makes_no_new_generation<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    bench.publish_one(keyed("a")).await;
    let other = Subscription {
        on_dead: OnDead::Hold,
        start: Start::Now,
        retry: RetryPolicy { max_attempts: 2, ..RetryPolicy::default() },
        ..Subscription::new(SUB)
    };

    assert_eq!(bench.subscribe(&other).await, 1);

    let census = bench.census(SUB).await.expect("it is there");
    assert_eq!(cursors(&census), [Position(0)], "`start` is for new subscriptions only");
}

pub async fn each_subscription_has_its_own_lines<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    bench.subscribe(&Subscription::new("audit")).await;
    let sent = bench.publish_one(keyed("a")).await;

    bench.settle(&sent, Vec::new()).await;

    assert_eq!(bench.line_of(SUB, sent.lane).await.cursor.after, sent.position);
    assert_eq!(bench.line_of("audit", sent.lane).await.cursor, Cursor::default());
}

/// The different cursors of the lanes.
fn cursors(census: &SubscriptionCensus) -> Vec<Position> {
    let mut cursors: Vec<Position> = census.lanes.iter().map(|line| line.cursor.after).collect();
    cursors.sort();
    cursors.dedup();
    cursors
}
