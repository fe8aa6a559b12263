//! What a settlement changes besides the cursor: park, unpark, bury.

use std::time::Duration;

use posthaste_core::{DeadFilter, DeadReason, EventFilter, EventStatus, MAX_ERROR_CHARS, StatusWord};

use super::{
    Subject,
    bench::{Bench, RELAY, SOON, SUB, Sent, TICK, keyed, places, positions},
    changes::{dead, delayed, delivered, failed, failed_with, follower, held_dead},
};

pub async fn parking_again_replaces_attempts_and_due_time<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish_one(keyed("a")).await;
    bench.settle(&sent, vec![failed_with(&sent, 1, SOON, "first")]).await;
    bench.advance(SOON);

    bench.settle(&sent, vec![failed_with(&sent, 2, SOON * 2, "second")]).await;

    let status = status(&bench, &sent).await;
    assert_eq!((status.status, status.attempts), (StatusWord::Failed, 2));
    assert_eq!(status.last_error.as_deref(), Some("second"));
    assert_eq!(status.due_at, Some(bench.now() + SOON * 2));
    bench.advance(SOON * 2);
    let parked = bench.page().await.parked;
    assert_eq!(positions(&parked), places(&[&sent]), "there is one row of it");
    assert_eq!(parked[0].attempts, 2);
}

pub async fn a_follower_that_is_parked_already_keeps_what_it_has<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish_one(keyed("a")).await;
    bench.settle(&sent, vec![failed_with(&sent, 4, SOON, "its own")]).await;
    let before = status(&bench, &sent).await;

    bench.settle(&sent, vec![follower(&sent)]).await;

    assert_eq!(status(&bench, &sent).await, before);
    assert_eq!((before.attempts, before.last_error.as_deref()), (4, Some("its own")));
}

pub async fn a_new_follower_has_failed_never<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish([keyed("a"), keyed("a")]).await;

    bench.settle(&sent[1], vec![failed(&sent[0], 1, SOON), follower(&sent[1])]).await;

    let status = status(&bench, &sent[1]).await;
    assert_eq!((status.status, status.attempts, status.last_error), (StatusWord::Failed, 0, None));
    assert_eq!(told(&bench, &sent[1]).await, ["published"], "waiting is no failure");
}

pub async fn a_follower_may_fail_on_its_own_later<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish([keyed("a"), keyed("a")]).await;
    bench.settle(&sent[1], vec![failed(&sent[0], 1, SOON), follower(&sent[1])]).await;

    bench.settle(&sent[0], vec![delivered(&sent[0]), failed_with(&sent[1], 1, SOON, "its own")]).await;

    let status = status(&bench, &sent[1]).await;
    assert_eq!((status.attempts, status.last_error.as_deref()), (1, Some("its own")));
}

pub async fn a_delayed_event_waits_for_its_time_without_an_attempt<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let due_at = bench.now() + SOON;
    let sent = bench.publish_one(keyed("a").deliver_after(due_at)).await;

    bench.settle(&sent, vec![delayed(&sent, due_at)]).await;

    let status = status(&bench, &sent).await;
    assert_eq!((status.status, status.attempts, status.due_at), (StatusWord::Delayed, 0, Some(due_at)));
    assert_eq!(status.last_error, None);
    bench.advance(SOON - TICK);
    assert!(bench.page().await.parked.is_empty());
}

pub async fn delivering_what_was_parked_removes_it<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish([keyed("a"), keyed("a")]).await;
    bench.settle(&sent[1], vec![failed(&sent[0], 1, Duration::ZERO), follower(&sent[1])]).await;
    bench.advance(SOON);

    bench.settle(&sent[1], vec![delivered(&sent[0]), delivered(&sent[1])]).await;

    let page = bench.page().await;
    assert!(page.parked.is_empty() && page.troubled.is_empty());
    for sent in &sent {
        assert_eq!(status(&bench, sent).await.status, StatusWord::Delivered);
    }
    assert_eq!(told(&bench, &sent[0]).await, ["published", "failed", "delivered"]);
    assert_eq!(told(&bench, &sent[1]).await, ["published", "delivered"]);
}

pub async fn delivering_what_is_not_parked_is_harmless<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish_one(keyed("a")).await;

    bench.settle(&sent, vec![delivered(&sent)]).await;

    assert_eq!(status(&bench, &sent).await.status, StatusWord::Delivered);
}

pub async fn burying_makes_a_dead_letter_of_what_was_parked<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish_one(keyed("a").topic("orders")).await;
    bench.settle(&sent, vec![failed(&sent, 9, Duration::ZERO)]).await;
    bench.advance(SOON);

    bench.settle(&sent, vec![held_dead(&sent)]).await;

    assert!(bench.page().await.parked.is_empty());
    let letters = subject.admin().dead(&DeadFilter::default()).await.expect("dead");
    let [letter] = letters.items.as_slice() else { panic!("one dead letter, not {letters:?}") };
    assert_eq!((letter.subscription.as_str(), letter.position, letter.id), (SUB, sent.position, sent.id));
    assert_eq!((letter.event_type.as_str(), letter.topic.as_str()), ("order.placed", "orders"));
    assert_eq!((letter.key.as_deref(), letter.payload.as_str()), (Some("a"), r#"{"total":1}"#));
    assert_eq!((letter.reason, letter.attempts), (DeadReason::MaxRetriesExceeded, 10));
    assert_eq!((letter.error.as_str(), letter.holds), ("connection reset", true));
    assert_eq!((letter.moved_at, letter.resolution.as_deref()), (bench.now(), None));
    assert_eq!((letter.resolved_at, letter.resolved_by.as_deref(), letter.new_id), (None, None, None));
    assert_eq!(told(&bench, &sent).await, ["published", "failed", "dead"]);
}

pub async fn burying_what_was_never_parked_works_too<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish_one(keyed("a")).await;

    bench.settle(&sent, vec![dead(&sent)]).await;

    assert_eq!(status(&bench, &sent).await.status, StatusWord::Dead);
    assert_eq!(told(&bench, &sent).await, ["published", "dead"]);
}

pub async fn long_error_texts_are_cut<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish_one(keyed("a")).await;
    let long = "é".repeat(MAX_ERROR_CHARS + 1);

    bench.settle(&sent, vec![failed_with(&sent, 1, SOON, &long)]).await;

    let kept = status(&bench, &sent).await.last_error.expect("it has failed");
    assert_eq!(kept.chars().count(), MAX_ERROR_CHARS);
}

pub async fn the_journal_tells_of_failures_with_their_relay<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish_one(keyed("a")).await;

    bench.settle(&sent, vec![failed_with(&sent, 3, SOON, "no route")]).await;

    let timeline = subject.admin().show(sent.id).await.expect("show");
    let failure = &timeline.items[1];
    assert_eq!((failure.what.as_str(), failure.attempt), ("failed", Some(3)));
    assert_eq!((failure.by.as_deref(), failure.subscription.as_deref()), (Some(RELAY), Some(SUB)));
    assert!(failure.detail.as_deref().is_some_and(|detail| detail.contains("no route")), "{failure:?}");
}

async fn status<S: Subject>(bench: &Bench<'_, S>, sent: &Sent) -> EventStatus {
    let filter = EventFilter { subscription: Some(SUB.to_owned()), limit: 1_000, ..EventFilter::default() };
    let listed = bench.subject.admin().list(&filter).await.expect("list").items;
    let summary = listed.into_iter().find(|summary| summary.position == sent.position);
    summary.expect("the event is listed").statuses.remove(0)
}

/// What the timeline of an event tells, in order.
async fn told<S: Subject>(bench: &Bench<'_, S>, sent: &Sent) -> Vec<String> {
    let timeline = bench.subject.admin().show(sent.id).await.expect("show");
    timeline.items.into_iter().map(|item| item.what).collect()
}
