//! Finding events and dead letters: by what they are, when they were written, and what they wait for.

use std::collections::BTreeMap;

use posthaste_core::{
    Buried, Change, DeadFilter, DeadReason, ErrorKind, ErrorText, Event, EventFilter, EventStatus,
    OperatorAct, Order, Position, Sort, StatusWord, Subscription,
};

use super::{
    Subject,
    bench::{Bench, SOON, SUB, Sent, keyed, places, unkeyed},
    changes::{dead, delayed, failed, follower, held_dead},
};

pub async fn events_are_found_by_aggregate_tenant_and_time<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let order = |id: &str| unkeyed().aggregate("order", id);
    bench.publish([order("1").tenant("acme"), order("2").tenant("acme")]).await;
    bench.advance(SOON);
    let noon = bench.now();
    bench.publish([order("1").tenant("globex"), unkeyed().aggregate("user", "1")]).await;
    bench.advance(SOON);

    let text = |text: &str| Some(text.to_owned());
    let any = EventFilter::default;
    let cases = [
        (EventFilter { aggregate_type: text("order"), ..any() }, 3),
        (EventFilter { aggregate_id: text("1"), ..any() }, 3),
        (EventFilter { aggregate_type: text("order"), aggregate_id: text("1"), ..any() }, 2),
        (EventFilter { tenant_id: text("acme"), ..any() }, 2),
        (EventFilter { tenant_id: text("acme"), aggregate_id: text("2"), ..any() }, 1),
        (EventFilter { created_after: Some(noon), ..any() }, 2),
        (EventFilter { created_before: Some(noon), ..any() }, 2),
        (EventFilter { created_before: Some(noon), tenant_id: text("globex"), ..any() }, 0),
        (EventFilter { created_after: Some(noon), created_before: Some(noon + SOON), ..any() }, 2),
        (EventFilter { created_after: Some(noon + SOON), ..any() }, 0),
    ];
    for (filter, expected) in cases {
        let oldest_first = EventFilter { sort: Sort::OldestFirst, ..filter.clone() };
        let pending =
            EventFilter { subscription: text(SUB), status: Some(StatusWord::Pending), ..filter.clone() };
        for filter in [filter, oldest_first, pending] {
            let found = subject.admin().list(&filter).await.expect("list");
            assert_eq!((found.items.len(), found.next), (expected, None), "{filter:?}");
        }
    }
}

pub async fn a_summary_tells_what_the_event_is<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let tomorrow = bench.now() + SOON * 1_000;
    let draft = unkeyed().aggregate("order", 7).version(3).tenant("acme").correlation("c-1");
    let sent = bench.publish_one(draft.event_version("2.1.0").deliver_after(tomorrow)).await;

    let summary = subject.admin().show(sent.id).await.expect("show").event;

    let event = &sent.event;
    assert_eq!((summary.id, summary.position, summary.lane), (sent.id, sent.position, sent.lane));
    assert_eq!((summary.event_version.as_str(), summary.version), ("2.1.0", Some(3)));
    assert_eq!((&summary.topic, &summary.key), (&event.topic, &event.key));
    let aggregate = (summary.aggregate_type.as_deref(), summary.aggregate_id.as_deref());
    assert_eq!(aggregate, (Some("order"), Some("7")));
    assert_eq!(
        (summary.tenant_id.as_deref(), summary.correlation_id.as_deref()),
        (Some("acme"), Some("c-1"))
    );
    assert_eq!((summary.occurred_at, summary.deliver_after), (event.occurred_at, Some(tomorrow)));
}

pub async fn a_key_is_read_in_the_order_of_the_log<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish(["a", "b", "a", "a", "b", "a"].map(keyed)).await;
    let mut filter = EventFilter {
        key: Some("a".to_owned()),
        sort: Sort::OldestFirst,
        limit: 3,
        ..EventFilter::default()
    };

    let first = subject.admin().list(&filter).await.expect("list");
    assert_eq!(found(&first.items), places(&[&sent[0], &sent[2], &sent[3]]));
    filter.cursor = first.next;
    let second = subject.admin().list(&filter).await.expect("list");
    assert_eq!((found(&second.items), second.next), (places(&[&sent[5]]), None));
}

pub async fn what_an_event_waits_for_is_told<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let keys = bench.keys_of_distinct_lanes(3).await;
    let sent = bench.publish([0, 0, 0, 1, 0, 2, 2].map(|key: usize| keyed(&keys[key]))).await;
    bench.settle(&sent[0], Vec::new()).await;
    bench.settle(&sent[2], vec![failed(&sent[1], 1, SOON), follower(&sent[2])]).await;
    bench.settle(&sent[5], vec![delayed(&sent[5], bench.now() + SOON * 2)]).await;

    let head = Some(sent[1].position);
    let expected = [None, None, head, None, head, None, None];
    for (sent, blocked_by) in sent.iter().zip(expected) {
        assert_eq!(status(&bench, sent).await.blocked_by, blocked_by, "{sent:?}");
    }
    bench.advance(SOON * 2);
    assert_eq!(status(&bench, &sent[6]).await.blocked_by, Some(sent[5].position), "now it is due");
    assert_eq!(status(&bench, &sent[5]).await.blocked_by, None);
}

pub async fn a_dead_letter_that_holds_is_what_its_key_waits_for<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let keys = bench.keys_of_distinct_lanes(2).await;
    let sent = bench.publish([0, 0, 1, 1].map(|key: usize| keyed(&keys[key]))).await;
    bench.settle(&sent[0], vec![held_dead(&sent[0])]).await;
    bench.settle(&sent[2], vec![dead(&sent[2])]).await;

    assert_eq!(status(&bench, &sent[1]).await.blocked_by, Some(sent[0].position));
    assert_eq!(status(&bench, &sent[3]).await.blocked_by, None, "it does not hold");

    bench.act(OperatorAct::Discard(bench.open_letters().await)).await.expect("discard");
    assert_eq!(status(&bench, &sent[1]).await.blocked_by, None, "somebody has looked at it");
}

pub async fn without_order_nothing_waits<S: Subject>(subject: &S) {
    let bench = Bench::new(subject);
    bench.subscribe(&Subscription { order: Order::None, ..Subscription::new(SUB) }).await;
    let sent = bench.publish(["a", "a"].map(keyed)).await;
    bench.settle(&sent[0], vec![failed(&sent[0], 1, SOON)]).await;

    assert_eq!(status(&bench, &sent[1]).await.blocked_by, None);
}

pub async fn something_rare_is_found_page_by_page<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let rare = || Event::of("rare").key("r").bytes("", "b");
    let mut sent = bench.publish([rare()]).await;
    bench.publish((0..10_500).map(|_| unkeyed())).await;
    sent.extend(bench.publish([rare()]).await);

    for sort in [Sort::NewestFirst, Sort::OldestFirst] {
        let filter = EventFilter { event_type: Some("rare".to_owned()), sort, ..EventFilter::default() };
        let mut positions = everything(&bench, filter).await;
        if sort == Sort::NewestFirst {
            positions.reverse();
        }
        assert_eq!(positions, places(&sent.iter().collect::<Vec<_>>()), "{sort:?}");
    }
    bench.settle(&sent[0], Vec::new()).await;
    let filter = EventFilter {
        subscription: Some(SUB.to_owned()),
        status: Some(StatusWord::Delivered),
        event_type: Some("rare".to_owned()),
        ..EventFilter::default()
    };
    assert_eq!(everything(&bench, filter).await, places(&[&sent[0]]));
}

pub async fn what_cannot_be_meant_is_refused<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let any = EventFilter::default;
    for filter in [
        EventFilter { limit: 1_001, ..any() },
        EventFilter { cursor: Some(0), ..any() },
        EventFilter { cursor: Some(i64::MIN), ..any() },
        EventFilter { key: Some("a\0b".to_owned()), ..any() },
        EventFilter { created_after: Some(bench.now()), created_before: Some(bench.now()), ..any() },
        EventFilter {
            subscription: Some(SUB.to_owned()),
            status: Some(StatusWord::Dead),
            sort: Sort::OldestFirst,
            ..any()
        },
    ] {
        let error = subject.admin().list(&filter).await.expect_err("what should that be?");
        assert_eq!(error.kind(), ErrorKind::Invalid, "{filter:?}: {error}");
    }
    for filter in [
        DeadFilter { limit: u32::MAX, ..DeadFilter::default() },
        DeadFilter { cursor: Some(-7), ..DeadFilter::default() },
        DeadFilter { error: Some(ErrorText::Line("\0".to_owned())), ..DeadFilter::default() },
    ] {
        let error = subject.admin().dead(&filter).await.expect_err("what should that be?");
        assert_eq!(error.kind(), ErrorKind::Invalid, "{filter:?}: {error}");
    }
    let gone = EventFilter { subscription: Some("billin".to_owned()), ..any() };
    let error = subject.admin().list(&gone).await.expect_err("nobody is called so");
    assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
    let far = EventFilter { cursor: Some(i64::MAX), sort: Sort::OldestFirst, ..any() };
    assert_eq!(subject.admin().list(&far).await.expect("list").items, []);
    let far = DeadFilter { cursor: Some(i64::MAX), ..DeadFilter::default() };
    assert_eq!(subject.admin().dead(&far).await.expect("dead").items, []);
}

pub async fn dead_letters_are_found_by_topic_error_and_time<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish([keyed("a").topic("t"), keyed("b").topic("u"), keyed("c").topic("t")]).await;
    bench.settle(&sent[0], vec![died(&sent[0], "refused\nby the server")]).await;
    bench.advance(SOON);
    let noon = bench.now();
    bench.settle(&sent[1], vec![died(&sent[1], "refused: 100%_ wrong")]).await;
    bench.settle(&sent[2], vec![died(&sent[2], "timeout")]).await;

    let line = |text: &str| Some(ErrorText::Line(text.to_owned()));
    let beginning = |text: &str| Some(ErrorText::Beginning(text.to_owned()));
    let any = DeadFilter::default;
    let cases = [
        (DeadFilter { topic: Some("t".to_owned()), ..any() }, 2),
        (DeadFilter { error: line("refused"), ..any() }, 1),
        (DeadFilter { error: beginning("refused"), ..any() }, 2),
        (DeadFilter { error: beginning("refused: 100%_"), ..any() }, 1),
        (DeadFilter { error: beginning("%"), ..any() }, 0),
        (DeadFilter { error: beginning("by the"), ..any() }, 0),
        (DeadFilter { moved_after: Some(noon), ..any() }, 2),
        (DeadFilter { moved_before: Some(noon), ..any() }, 1),
        (DeadFilter { moved_before: Some(noon + SOON), moved_after: Some(noon), ..any() }, 2),
        (DeadFilter { moved_after: Some(noon), topic: Some("t".to_owned()), ..any() }, 1),
        (DeadFilter { moved_after: Some(noon + SOON), ..any() }, 0),
        (DeadFilter { moved_after: Some(noon), subscription: Some("audit".to_owned()), ..any() }, 0),
    ];
    for (filter, expected) in cases {
        for filter in [filter.clone(), DeadFilter { resolved: true, ..filter.clone() }] {
            let page = subject.admin().dead(&filter).await.expect("dead");
            assert_eq!((page.items.len(), page.next), (expected, None), "{filter:?}");
        }
        let groups = subject.admin().dead_groups(&filter).await.expect("groups");
        assert_eq!(groups.iter().map(|group| group.count).sum::<u64>(), expected as u64, "{filter:?}");
    }
}

pub async fn a_dead_letter_is_found_by_its_number<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let draft = unkeyed().aggregate("order", 7).tenant("acme").header("trace", "abc");
    let sent = bench.publish([draft, keyed("b")]).await;
    for sent in &sent {
        bench.settle(sent, vec![dead(sent)]).await;
    }
    let dead_id = bench.open_letters().await[0];
    bench.act(OperatorAct::Discard(vec![dead_id])).await.expect("discard");

    let filter = DeadFilter { dead_id: Some(dead_id), ..DeadFilter::default() };
    let letters = subject.admin().dead(&filter).await.expect("dead").items;

    assert_eq!(letters.len(), 1, "also when it is resolved");
    let letter = &letters[0];
    assert_eq!((letter.dead_id, letter.id), (dead_id, sent[0].id));
    assert_eq!(letter.headers, BTreeMap::from([("trace".to_owned(), "abc".to_owned())]));
    let aggregate = (letter.aggregate_type.as_deref(), letter.aggregate_id.as_deref());
    assert_eq!((aggregate, letter.tenant_id.as_deref()), ((Some("order"), Some("7")), Some("acme")));
    assert_eq!(letter.content_type, "application/json");
    let nobody = DeadFilter { dead_id: Some(dead_id + 99), ..DeadFilter::default() };
    assert_eq!(subject.admin().dead(&nobody).await.expect("dead").items, []);
}

pub async fn dead_letters_of_the_same_are_one_group<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish(["a", "b", "c", "d"].map(keyed)).await;
    let long = "é".repeat(300);
    let first_at = bench.now();
    bench.settle(&sent[0], vec![died(&sent[0], &format!("{long}, the first"))]).await;
    bench.advance(SOON);
    bench.settle(&sent[1], vec![died(&sent[1], &format!("{long}, the second\nat line 3"))]).await;
    bench.settle(&sent[2], vec![died(&sent[2], "refused")]).await;
    bench.settle(&sent[3], vec![died(&sent[3], "refused")]).await;
    bench.act(OperatorAct::Discard(bench.open_letters().await.split_off(2))).await.expect("discard");

    let groups = subject.admin().dead_groups(&DeadFilter::default()).await.expect("groups");

    assert_eq!(groups.len(), 1, "resolved ones count no more: {groups:?}");
    let group = &groups[0];
    assert_eq!((group.count, group.first_at, group.last_at), (2, first_at, bench.now()));
    assert_eq!((group.subscription.as_str(), group.event_type.as_str()), (SUB, "order.placed"));
    assert_eq!((group.reason, &group.error), (DeadReason::PermanentFailure, &"é".repeat(200)));
    let line = DeadFilter { error: Some(ErrorText::Line(group.error.clone())), ..DeadFilter::default() };
    assert_eq!(subject.admin().dead(&line).await.expect("dead").items.len(), 2, "they are found by it");
}

pub async fn groups_are_told_largest_first<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish((0..108).map(|_| keyed("a"))).await;
    let error = |index: usize| format!("error {}", index.saturating_sub(5));
    let letters = sent.iter().enumerate().map(|(index, sent)| died(sent, &error(index))).collect();
    bench.settle(&sent[107], letters).await;

    let groups = subject.admin().dead_groups(&DeadFilter::default()).await.expect("groups");

    assert_eq!(groups.len(), 100, "and no more than a hundred");
    assert_eq!((groups[0].count, groups[0].error.as_str()), (6, "error 0"));
    assert!(groups[1..].iter().all(|group| group.count == 1));
}

/// It died of this.
fn died(sent: &Sent, error: &str) -> Change {
    let Change::Bury(buried) = dead(sent) else { unreachable!("that is what it does") };
    let reason = DeadReason::PermanentFailure;
    Change::Bury(Box::new(Buried { error: error.to_owned(), reason, ..*buried }))
}

/// The status of an event in [`SUB`].
async fn status<S: Subject>(bench: &Bench<'_, S>, sent: &Sent) -> EventStatus {
    let timeline = bench.subject.admin().show(sent.id).await.expect("show");
    timeline.event.statuses.into_iter().find(|status| status.subscription == SUB).expect("it has one")
}

/// All that is found, page by page.
async fn everything<S: Subject>(bench: &Bench<'_, S>, mut filter: EventFilter) -> Vec<Position> {
    let mut positions = Vec::new();
    loop {
        let page = bench.subject.admin().list(&filter).await.expect("list");
        positions.extend(found(&page.items));
        match page.next {
            Some(next) => {
                assert_ne!(filter.cursor, Some(next), "it goes on");
                filter.cursor = Some(next);
            }
            None => return positions,
        }
    }
}

fn found(items: &[posthaste_core::EventSummary]) -> Vec<Position> {
    items.iter().map(|summary| summary.position).collect()
}
