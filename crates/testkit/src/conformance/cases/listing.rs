//! What operators see: one status for every event, timelines, counts.

use std::time::Duration;

use posthaste_core::{
    ErrorKind, Event, EventFilter, EventId, Filter, OperatorAct, Pattern, Position, ResetTo, Start,
    StatusWord, Subscription, SubscriptionStatus,
};

use super::{
    Subject,
    bench::{Bench, RELAY, SOON, SUB, Sent, keyed, places, unkeyed},
    changes::{dead, delayed, delivered, failed, follower},
};

const WORDS: [StatusWord; 7] = [
    StatusWord::Pending,
    StatusWord::Processing,
    StatusWord::Failed,
    StatusWord::Delivered,
    StatusWord::Dead,
    StatusWord::Delayed,
    StatusWord::Skipped,
];

pub async fn every_event_has_exactly_one_status<S: Subject>(subject: &S) {
    let (bench, sent) = one_of_each(subject).await;
    let discarded = bench.publish_one(keyed("g")).await;
    bench.settle(&discarded, vec![dead(&discarded)]).await;
    let letters = subject.admin().dead(&Default::default()).await.expect("dead").items;
    let last = letters.last().expect("it is dead").dead_id;
    bench.act(OperatorAct::Discard(vec![last])).await.expect("discard");

    let mut listed: Vec<Position> = Vec::new();
    for word in WORDS {
        listed.extend(listed_with(&bench, word).await);
    }

    listed.sort();
    let mut all = places(&sent.iter().collect::<Vec<_>>());
    all.push(discarded.position);
    assert_eq!(listed, all, "each in exactly one list");
}

pub async fn the_words_say_how_an_event_stands<S: Subject>(subject: &S) {
    let (bench, sent) = one_of_each(subject).await;

    let waiting =
        [listed_with(&bench, StatusWord::Pending).await, listed_with(&bench, StatusWord::Processing).await];
    assert_eq!(waiting.concat(), places(&[&sent[0]]), "whether it is read already only the relay knows");
    assert_eq!(listed_with(&bench, StatusWord::Failed).await, places(&[&sent[2], &sent[1]]));
    assert_eq!(listed_with(&bench, StatusWord::Delayed).await, places(&[&sent[3]]));
    assert_eq!(listed_with(&bench, StatusWord::Dead).await, places(&[&sent[4]]));
    assert_eq!(listed_with(&bench, StatusWord::Delivered).await, places(&[&sent[5]]));
    assert_eq!(listed_with(&bench, StatusWord::Skipped).await, []);
}

pub async fn what_the_filter_excludes_is_skipped<S: Subject>(subject: &S) {
    let bench = Bench::new(subject);
    let narrow = Filter { types: vec![Pattern::new("user.*")], topics: Vec::new() };
    bench.subscribe(&Subscription { filter: narrow, ..Subscription::new(SUB) }).await;
    let sent = bench.publish([keyed("a"), Event::of("user.created").key("a").bytes("", "b")]).await;
    bench.settle(&sent[1], Vec::new()).await;

    assert_eq!(listed_with(&bench, StatusWord::Skipped).await, places(&[&sent[0]]));
    assert_eq!(listed_with(&bench, StatusWord::Delivered).await, places(&[&sent[1]]));
}

pub async fn what_lies_before_the_start_is_skipped<S: Subject>(subject: &S) {
    let bench = Bench::new(subject);
    let before = bench.publish_one(keyed("a")).await;
    bench.subscribe(&Subscription { start: Start::Now, ..Subscription::new(SUB) }).await;
    let after = bench.publish_one(keyed("a")).await;
    bench.settle(&after, Vec::new()).await;

    assert_eq!(listed_with(&bench, StatusWord::Skipped).await, places(&[&before]));
    assert_eq!(listed_with(&bench, StatusWord::Delivered).await, places(&[&after]));
}

pub async fn a_reset_makes_what_comes_again_pending<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish(["a", "b", "c", "d"].map(keyed)).await;
    bench.settle(&sent[0], vec![dead(&sent[0])]).await;
    bench.act(OperatorAct::Discard(bench.open_letters().await)).await.expect("discard");
    bench.settle(&sent[1], vec![dead(&sent[1])]).await;
    bench.settle(&sent[2], vec![failed(&sent[2], 1, SOON)]).await;
    bench.settle(&sent[3], Vec::new()).await;
    bench.act(OperatorAct::Pause(SUB.to_owned())).await.expect("pause");

    let reset = OperatorAct::Reset { subscription: SUB.to_owned(), to: ResetTo::Beginning };
    bench.act(reset).await.expect("reset");

    let pending = listed_with(&bench, StatusWord::Pending).await;
    assert_eq!(pending, places(&[&sent[3], &sent[2], &sent[1], &sent[0]]));
}

pub async fn the_counts_fit_the_lists<S: Subject>(subject: &S) {
    let (bench, sent) = one_of_each(subject).await;

    let status = subject.admin().status().await.expect("status");

    assert_eq!((status.events, status.lanes), (6, subject.log().capabilities().lanes));
    let expected = SubscriptionStatus {
        name: SUB.to_owned(),
        paused: false,
        pending: 1,
        pending_estimated: false,
        failed: 2,
        behind: 1,
        delayed: 1,
        dead: 1,
        dead_last_hour: 1,
        delivered: 1,
        delivered_last_minute: 1,
        lanes_held: 0,
        moved_at: Some(posthaste_core::Timestamp(bench.now().0 - 10_000_000)),
        oldest_age_seconds: Some(10.0),
        oldest_failed_seconds: Some(10.0),
    };
    assert_eq!(status.subscriptions, [expected]);
    for (word, expected) in [(StatusWord::Failed, 2), (StatusWord::Delayed, 1), (StatusWord::Dead, 1)] {
        assert_eq!(listed_with(&bench, word).await.len(), expected);
    }
    assert_eq!(sent.len(), 6);
}

pub async fn the_status_tells_of_relays_and_what_they_hold<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    bench.enrol("a").await;
    bench.enrol("b").await;
    bench.take("a", posthaste_core::Lane(0)).await;
    bench.take("gone", posthaste_core::Lane(1)).await;

    let status = subject.admin().status().await.expect("status");

    assert_eq!((status.relays.len(), status.subscriptions[0].lanes_held), (2, 1));
    assert_eq!(status.subscriptions[0].oldest_age_seconds, None, "nothing waits");
}

pub async fn events_come_newest_first_a_page_at_a_time<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let mut sent = bench.publish((0..7).map(|number| keyed(&number.to_string()))).await;
    sent.reverse();

    let mut filter = EventFilter { limit: 3, ..EventFilter::default() };
    let mut pages: Vec<Vec<EventId>> = Vec::new();
    loop {
        let page = subject.admin().list(&filter).await.expect("list");
        pages.push(page.items.iter().map(|summary| summary.id).collect());
        match page.next {
            Some(next) => filter.cursor = Some(next),
            None => break,
        }
    }

    assert_eq!(pages.concat(), sent.iter().map(|sent| sent.id).collect::<Vec<_>>());
    assert_eq!(pages.iter().map(Vec::len).max(), Some(3));
}

pub async fn a_page_has_fifty_rows_unless_told<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    bench.publish((0..51).map(|_| unkeyed())).await;

    let page = subject.admin().list(&EventFilter::default()).await.expect("list");

    assert_eq!(page.items.len(), 50);
    let rest = EventFilter { cursor: page.next, ..EventFilter::default() };
    assert_eq!(subject.admin().list(&rest).await.expect("list").items.len(), 1);
}

pub async fn events_are_listed_by_what_is_asked_for<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    bench.subscribe(&Subscription::new("audit")).await;
    let drafts = [keyed("a"), keyed("b").topic("t"), Event::of("other").key("a").topic("t").bytes("", "b")];
    bench.publish(drafts).await;

    let any = EventFilter::default;
    let cases = [
        (any(), 3, 2),
        (EventFilter { subscription: Some(SUB.to_owned()), ..any() }, 3, 1),
        (EventFilter { event_type: Some("other".to_owned()), ..any() }, 1, 2),
        (EventFilter { topic: Some("t".to_owned()), ..any() }, 2, 2),
        (EventFilter { key: Some("a".to_owned()), topic: Some("t".to_owned()), ..any() }, 1, 2),
    ];
    for (filter, events, statuses) in cases {
        let items = subject.admin().list(&filter).await.expect("list").items;
        assert_eq!(items.len(), events, "{filter:?}");
        assert!(items.iter().all(|item| item.statuses.len() == statuses), "{filter:?}");
    }
}

pub async fn a_status_without_a_subscription_means_nothing<S: Subject>(subject: &S) {
    let filter = EventFilter { status: Some(StatusWord::Dead), ..EventFilter::default() };

    let error = subject.admin().list(&filter).await.expect_err("in which subscription?");

    assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
}

pub async fn a_plain_success_is_told_by_the_line_of_its_batch<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let published_at = bench.now();
    let sent = bench.publish_one(keyed("a").header("trace", "abc")).await;
    bench.advance(SOON);
    let settled_at = bench.now();
    bench.settle(&sent, Vec::new()).await;
    bench.advance(SOON);

    let timeline = subject.admin().show(sent.id).await.expect("show");

    assert_eq!((timeline.event.id, timeline.event.position), (sent.id, sent.position));
    assert_eq!((timeline.payload.as_str(), &timeline.headers), (r#"{"total":1}"#, &sent.event.headers));
    let told: Vec<_> = timeline.items.iter().map(|item| (item.what.as_str(), item.at)).collect();
    assert_eq!(told, [("published", published_at), ("delivered", settled_at)]);
    let delivery = &timeline.items[1];
    assert_eq!((delivery.by.as_deref(), delivery.subscription.as_deref()), (Some(RELAY), Some(SUB)));
}

pub async fn a_delivery_that_had_to_wait_is_told_when_it_was_made<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish([keyed("a"), keyed("a"), keyed("b")]).await;
    bench.advance(SOON);
    let due_at = bench.now() + SOON;
    bench.settle(&sent[1], vec![failed(&sent[0], 1, SOON), follower(&sent[1])]).await;
    bench.settle(&sent[2], vec![delayed(&sent[2], due_at)]).await;

    for waiting in [&sent[1], &sent[2]] {
        bench.advance(SOON);
        bench.settle(waiting, vec![delivered(waiting)]).await;
        let items = subject.admin().show(waiting.id).await.expect("show").items;
        let told: Vec<_> =
            items.iter().skip(1).map(|item| (item.what.as_str(), item.at, item.attempt)).collect();
        assert_eq!(told, [("delivered", bench.now(), Some(1))], "not when it was parked");
        assert_eq!(items[1].by.as_deref(), Some(RELAY));
    }
}

pub async fn a_delivery_after_a_reset_is_told_as_well<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish_one(keyed("a")).await;
    for change in [failed(&sent, 1, SOON), delivered(&sent)] {
        bench.advance(SOON);
        bench.settle(&sent, vec![change]).await;
    }
    bench.act(OperatorAct::Pause(SUB.to_owned())).await.expect("pause");
    let reset = OperatorAct::Reset { subscription: SUB.to_owned(), to: ResetTo::Beginning };
    bench.act(reset).await.expect("reset");

    bench.advance(SOON);
    bench.settle(&sent, Vec::new()).await;

    let items = subject.admin().show(sent.id).await.expect("show").items;
    let told: Vec<&str> = items.iter().map(|item| item.what.as_str()).collect();
    assert_eq!(told, ["published", "failed", "delivered", "delivered"]);
    assert_eq!(items[3].at, bench.now());
}

pub async fn the_lag_shows_without_any_relay<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    bench.publish_one(keyed("a")).await;

    for waited in [SOON, 2 * SOON] {
        bench.advance(SOON);
        let status = subject.admin().status().await.expect("status");
        assert_eq!((status.relays.len(), status.subscriptions[0].pending), (0, 1));
        let age = status.subscriptions[0].oldest_age_seconds.expect("something waits");
        assert!((age - waited.as_secs_f64()).abs() < 0.001, "{age} s after {waited:?}");
    }
}

pub async fn a_timeline_tells_everything_in_order<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    bench.subscribe(&Subscription::new("audit")).await;
    let sent = bench.publish_one(keyed("a")).await;
    bench.advance(SOON);
    bench.settle(&sent, vec![failed(&sent, 1, SOON)]).await;
    bench.advance(SOON);
    bench.settle_in("audit", &sent, Vec::new()).await;
    for change in [failed(&sent, 2, SOON), delivered(&sent)] {
        bench.advance(SOON);
        bench.settle(&sent, vec![change]).await;
    }

    let timeline = subject.admin().show(sent.id).await.expect("show");

    let told: Vec<_> =
        timeline.items.iter().map(|item| (item.what.as_str(), item.subscription.as_deref())).collect();
    let (here, there) = (Some(SUB), Some("audit"));
    let expected =
        [("published", None), ("failed", here), ("delivered", there), ("failed", here), ("delivered", here)];
    assert_eq!(told, expected);
    let words: Vec<_> =
        timeline.event.statuses.iter().map(|status| (status.subscription.as_str(), status.status)).collect();
    assert_eq!(words, [("audit", StatusWord::Delivered), (SUB, StatusWord::Delivered)]);
}

pub async fn an_event_that_is_not_there_is_not_found<S: Subject>(subject: &S) {
    let bench = Bench::new(subject);

    let error = subject.admin().show(bench.new_id()).await.expect_err("it is not there");

    assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
}

pub async fn bytes_that_are_no_text_are_shown_as_digits<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish_one(Event::of("x").bytes([0xff, 0x00, 0x0a], "application/octet-stream")).await;

    assert_eq!(subject.admin().show(sent.id).await.expect("show").payload, "ff000a");
}

/// Six events: pending, failed, its follower, delayed, dead, delivered; published ten seconds ago.
async fn one_of_each<S: Subject>(subject: &S) -> (Bench<'_, S>, Vec<Sent>) {
    let bench = Bench::subscribed(subject).await;
    let keys = bench.keys_of_distinct_lanes(4).await;
    let tomorrow = bench.now() + Duration::from_secs(86_400);
    let of = [&keys[0], &keys[1], &keys[1], &keys[2], &keys[3], &keys[3]];
    let sent = bench.publish(of.map(|key| keyed(key))).await;
    bench.settle(&sent[2], vec![failed(&sent[1], 1, SOON * 9), follower(&sent[2])]).await;
    bench.settle(&sent[3], vec![delayed(&sent[3], tomorrow)]).await;
    bench.settle(&sent[4], vec![dead(&sent[4])]).await;
    bench.settle(&sent[5], Vec::new()).await;
    bench.advance(SOON);
    (bench, sent)
}

/// The events with this status in [`SUB`], newest first.
async fn listed_with<S: Subject>(bench: &Bench<'_, S>, word: StatusWord) -> Vec<Position> {
    let filter = EventFilter {
        subscription: Some(SUB.to_owned()),
        status: Some(word),
        limit: 1_000,
        ..EventFilter::default()
    };
    let listed = bench.subject.admin().list(&filter).await.expect("list").items;
    assert!(listed.iter().all(|item| item.statuses.len() == 1 && item.statuses[0].status == word));
    listed.iter().map(|summary| summary.position).collect()
}
