//! Publishing inside the caller's transaction: all or nothing, once, in order.

use std::{collections::BTreeSet, time::Duration};

use futures_util::StreamExt;
use posthaste_core::{Event, Lane, Payload, RetryOverrides, Timestamp};

use super::{
    Subject,
    bench::{Bench, SOON, keyed, places, positions, unkeyed},
};

pub async fn an_event_comes_back_as_it_was_published<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let retry = RetryOverrides {
        max_attempts: Some(3),
        base: Some(Duration::from_millis(50)),
        multiplier: Some(1.5),
        max: Some(Duration::from_secs(7)),
    };
    let full = Event::of("user.created")
        .event_version("2.1.0")
        .topic("users")
        .aggregate("user", "42")
        .key("tenant-1/42")
        .version(17)
        .tenant("tenant-1")
        .header("trace", "abc")
        .header("empty", "")
        .correlation("request-9")
        .idempotency_key("once")
        .deliver_after(Timestamp(1_704_067_200_123_456))
        .occurred_at(Timestamp(1_600_000_000_000_001))
        .retry(retry)
        .payload(Payload::Json(r#"{"name":"Ada","n":[1,2.5,null]}"#.to_owned()));
    let sparse = unkeyed();

    let sent = bench.publish([full, sparse]).await;

    let entries = bench.page().await.entries;
    assert_eq!(positions(&entries), places(&[&sent[0], &sent[1]]));
    for (entry, sent) in entries.iter().zip(&sent) {
        assert_eq!(entry.event, sent.event);
        assert_eq!(entry.lane, sent.lane);
        assert_eq!(entry.defect, None);
    }
}

pub async fn text_is_kept_whatever_it_looks_like<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let odd =
        ["'; drop table outbox; --", "\"quoted\" \\ back", "Ünï¢ødé 🐚", "%_*?$1:a", " ", "line\nbreak"];

    let drafts =
        odd.map(|text| keyed(text).topic(text).header(text, text).tenant(text).idempotency_key(text));
    let sent = bench.publish(drafts).await;

    let entries = bench.page().await.entries;
    assert_eq!(entries.len(), odd.len());
    for (entry, sent) in entries.iter().zip(&sent) {
        assert_eq!(entry.event, sent.event);
    }
}

pub async fn takes_a_payload_of_zero_bytes<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;

    let empty = bench.publish_one(Event::of("empty").bytes("", "text/plain")).await;
    let zeros = bench.publish_one(Event::of("zeros").bytes([0, 0xff, 0], "application/octet-stream")).await;

    let entries = bench.page().await.entries;
    assert_eq!(entries[0].event.payload, empty.event.payload);
    assert_eq!(entries[1].event.payload, zeros.event.payload);
}

pub async fn publishing_nothing_answers_nothing<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;

    assert!(bench.publish([]).await.is_empty());
    assert!(bench.page().await.entries.is_empty());
}

pub async fn a_rollback_leaves_nothing<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let event = bench.build(keyed("a"));

    let mut tx = subject.begin().await;
    bench.append_to(&mut tx, std::slice::from_ref(&event)).await.expect("publish");
    subject.rollback(tx).await;

    assert!(bench.page().await.entries.is_empty());
    assert!(subject.admin().show(event.id).await.is_err());
    let kept = bench.publish_one(keyed("a")).await;
    assert_eq!(positions(&bench.page().await.entries), places(&[&kept]));
}

pub async fn nothing_is_seen_before_the_commit<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let event = bench.build(keyed("a"));

    let mut tx = subject.begin().await;
    bench.append_to(&mut tx, std::slice::from_ref(&event)).await.expect("publish");
    assert!(bench.page().await.entries.is_empty());
    subject.commit(tx).await;

    assert_eq!(bench.page().await.entries.len(), 1);
}

pub async fn events_of_one_transaction_keep_their_order<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let events: Vec<Event> = (0..20).map(|number| bench.build(keyed(&format!("k{}", number % 3)))).collect();

    let mut tx = subject.begin().await;
    for batch in events.chunks(7) {
        bench.append_to(&mut tx, batch).await.expect("publish");
    }
    subject.commit(tx).await;

    let read: Vec<_> = bench.page().await.entries.into_iter().map(|entry| entry.event.id).collect();
    assert_eq!(read, events.iter().map(|event| event.id).collect::<Vec<_>>());
}

pub async fn positions_grow_from_commit_to_commit<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;

    let first = bench.publish([keyed("a"), keyed("b")]).await;
    let second = bench.publish_one(keyed("a")).await;

    assert!(first[0].position < first[1].position && first[1].position < second.position);
    assert!(first[0].position.0 > 0, "0 is the cursor of the beginning");
}

pub async fn all_events_of_a_key_are_in_one_lane<S: Subject>(subject: &S) {
    let bench = Bench::new(subject);

    let same =
        bench.publish([keyed("a"), keyed("a").topic("other"), Event::of("x").key("a").bytes("", "b")]).await;
    let spread = bench.publish((0..50).map(|_| unkeyed())).await;

    let lanes_of =
        |sent: &[super::bench::Sent]| sent.iter().map(|sent| sent.lane).collect::<BTreeSet<Lane>>();
    assert_eq!(lanes_of(&same).len(), 1);
    assert!(lanes_of(&spread).len() > 1, "events without a key spread over the lanes");
    assert!(lanes_of(&spread).iter().all(|lane| bench.all_lanes().contains(*lane)));
}

pub async fn a_duplicate_is_answered_with_the_first_event<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let first = bench.publish_one(keyed("a").version(3).idempotency_key("once")).await;

    let again = bench.publish_one(keyed("b").idempotency_key("once")).await;

    assert!(!first.answer.duplicate);
    assert_eq!(again.answer, posthaste_core::Published { duplicate: true, ..first.answer });
    assert_eq!(positions(&bench.page().await.entries), places(&[&first]));
}

pub async fn a_duplicate_leaves_the_transaction_usable<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let first = bench.publish_one(keyed("a").idempotency_key("once")).await;

    let sent = bench.publish([keyed("a"), keyed("a").idempotency_key("once"), keyed("a")]).await;

    let duplicates: Vec<bool> = sent.iter().map(|sent| sent.answer.duplicate).collect();
    assert_eq!(duplicates, [false, true, false]);
    assert_eq!(positions(&bench.page().await.entries), places(&[&first, &sent[0], &sent[2]]));
}

pub async fn a_duplicate_in_the_same_transaction_is_answered_with_the_first<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;

    let sent = bench.publish([keyed("a").idempotency_key("once"), keyed("a").idempotency_key("once")]).await;

    assert_eq!(sent[1].answer.id, sent[0].answer.id);
    assert!(sent[1].answer.duplicate && !sent[0].answer.duplicate);
    assert_eq!(bench.page().await.entries.len(), 1);
}

pub async fn an_idempotency_key_counts_for_its_topic<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;

    let sent =
        bench.publish(["one", "two"].map(|topic| keyed("a").topic(topic).idempotency_key("once"))).await;

    assert!(sent.iter().all(|sent| !sent.answer.duplicate));
    assert_eq!(bench.page().await.entries.len(), 2);
}

pub async fn an_idempotency_key_is_free_again_after_a_rollback<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let event = bench.build(keyed("a").idempotency_key("once"));

    let mut tx = subject.begin().await;
    bench.append_to(&mut tx, &[event]).await.expect("publish");
    subject.rollback(tx).await;

    let kept = bench.publish_one(keyed("a").idempotency_key("once")).await;
    assert!(!kept.answer.duplicate);
    assert_eq!(positions(&bench.page().await.entries), places(&[&kept]));
}

pub async fn numbers_of_an_aggregate_have_no_gaps_across_a_rollback<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let draft = || unkeyed().aggregate("order", "7").next_version();
    let events = [bench.build(draft()), bench.build(draft())];

    let first = bench.publish([draft(), draft()]).await;
    let mut tx = subject.begin().await;
    let rolled_back = bench.append_to(&mut tx, &events).await.expect("publish");
    subject.rollback(tx).await;
    let next = bench.publish_one(draft()).await;

    assert_eq!([first[0].answer.version, first[1].answer.version], [Some(1), Some(2)]);
    assert_eq!(rolled_back[1].version, Some(4));
    assert_eq!(next.answer.version, Some(3));
    let read: Vec<_> = bench.page().await.entries.into_iter().map(|entry| entry.event.version).collect();
    assert_eq!(read, [Some(1), Some(2), Some(3)]);
}

pub async fn numbers_are_counted_for_each_aggregate<S: Subject>(subject: &S) {
    let bench = Bench::new(subject);
    let draft = |kind: &'static str, id: &str| unkeyed().aggregate(kind, id).next_version();

    let sent = bench
        .publish([draft("order", "1"), draft("order", "2"), draft("user", "1"), draft("order", "1")])
        .await;

    let versions: Vec<_> = sent.iter().map(|sent| sent.answer.version).collect();
    assert_eq!(versions, [Some(1), Some(1), Some(1), Some(2)]);
    for (entry, sent) in bench.page().await.entries.iter().zip(&sent) {
        assert_eq!(entry.event, sent.event, "it is read with its number, and draws none again");
    }
}

pub async fn a_duplicate_draws_no_number<S: Subject>(subject: &S) {
    let bench = Bench::new(subject);
    let draft = || unkeyed().aggregate("order", "7").next_version();

    let first = bench.publish_one(draft().idempotency_key("once")).await;
    let again = bench.publish_one(draft().idempotency_key("once")).await;
    let next = bench.publish_one(draft()).await;

    assert_eq!(again.answer.version, first.answer.version);
    assert_eq!(next.answer.version, Some(2));
}

pub async fn an_id_is_published_only_once<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let first = bench.publish_one(keyed("a")).await;

    let mut tx = subject.begin().await;
    let answer = bench.append_to(&mut tx, &[bench.build(keyed("b").id(first.id))]).await;
    subject.rollback(tx).await;

    assert!(answer.is_err(), "{answer:?}");
    assert_eq!(positions(&bench.page().await.entries), places(&[&first]));
}

pub async fn a_commit_rings_the_doorbell<S: Subject>(subject: &S) {
    let bench = Bench::new(subject);
    if !subject.log().capabilities().doorbell {
        return;
    }
    let mut doorbell = subject.log().doorbell();

    bench.publish_one(keyed("a")).await;

    let rung = tokio::time::timeout(SOON, doorbell.next()).await;
    assert_eq!(rung, Ok(Some(())), "the doorbell rings soon after a commit");
}
