//! Reading from the log: order, bounds, where a page ends.

use std::time::Duration;

use posthaste_core::{
    Cursor, DEFAULT_PAYLOAD_LIMIT, Entry, Event, Filter, LaneSet, Limit, OperatorAct, Origin, Pattern,
    Position, Read, Subscription,
};

use super::{
    Damage, Subject,
    bench::{Bench, SOON, SUB, Sent, keyed, places, positions, unkeyed},
};

pub async fn reads_in_position_order_across_lanes<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish((0..30).map(|number| keyed(&format!("k{}", number % 7)))).await;

    let page = bench.page().await;

    assert_eq!(positions(&page.entries), places(&sent.iter().collect::<Vec<_>>()));
    assert!(page.entries.iter().all(|entry| entry.origin == Origin::Log && entry.attempts == 0));
    assert!(!page.stale && page.parked.is_empty() && page.troubled.is_empty() && page.next_due.is_none());
}

pub async fn reads_only_the_lanes_it_is_asked_for<S: Subject>(subject: &S) {
    let (bench, sent) = three_lanes(subject).await;
    let lanes: LaneSet = [sent[0].lane, sent[2].lane].into_iter().collect();

    let page = bench.read(&Read { lanes, ..bench.everything() }).await;

    assert_eq!(positions(&page.entries), places(&[&sent[0], &sent[2]]));
}

pub async fn reads_nothing_of_the_log_without_lanes<S: Subject>(subject: &S) {
    let (bench, _) = three_lanes(subject).await;

    let page = bench.read(&Read { lanes: LaneSet::EMPTY, ..bench.everything() }).await;

    assert!(page.entries.is_empty() && !page.more);
}

pub async fn reads_what_lies_behind_the_cursor<S: Subject>(subject: &S) {
    let (bench, sent) = three_lanes(subject).await;

    let page = bench.read(&Read { after: Cursor::at(sent[0].position), ..bench.everything() }).await;

    assert_eq!(positions(&page.entries), places(&[&sent[1], &sent[2]]));
}

pub async fn stops_at_until<S: Subject>(subject: &S) {
    let (bench, sent) = three_lanes(subject).await;
    let until = Some(Cursor::at(sent[1].position));

    let page = bench.read(&Read { until: until.clone(), ..bench.everything() }).await;
    assert_eq!(positions(&page.entries), places(&[&sent[0], &sent[1]]));
    assert_eq!((page.end.after, page.more), (sent[1].position, false));

    let lanes = LaneSet::from_iter([sent[2].lane]);
    let empty = bench.read(&Read { until, lanes, ..bench.everything() }).await;
    assert!(empty.entries.is_empty());
    assert_eq!(empty.end.after, sent[1].position, "the lane is read up to `until`, with nothing in it");
}

pub async fn stops_at_the_limit_of_entries<S: Subject>(subject: &S) {
    let (bench, sent) = three_lanes(subject).await;
    let limit = Limit { entries: 2, bytes: usize::MAX / 2 };

    let page = bench.read(&Read { limit, ..bench.everything() }).await;

    assert_eq!(positions(&page.entries), places(&[&sent[0], &sent[1]]));
    assert_eq!((page.end.after, page.more), (sent[1].position, true));
}

pub async fn a_limit_ends_the_page_before_until_does<S: Subject>(subject: &S) {
    let (bench, sent) = three_lanes(subject).await;
    let limit = Limit { entries: 1, bytes: usize::MAX / 2 };

    let until = Some(Cursor::at(sent[2].position));
    let page = bench.read(&Read { limit, until, ..bench.everything() }).await;

    assert_eq!((page.end.after, page.more), (sent[0].position, true));
}

pub async fn stops_at_the_limit_of_bytes<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let sent =
        bench.publish((0..4).map(|_| Event::of("large").bytes(vec![1; 10_000], "b").header("h", "v"))).await;
    let size = bench.page().await.entries[0].size();

    for (bytes, expected) in [(3 * size, 3), (3 * size - 1, 2), (size + 1, 1)] {
        let limit = Limit { entries: 1_000, bytes };
        let page = bench.read(&Read { limit, ..bench.everything() }).await;
        assert_eq!(page.entries.len(), expected, "{bytes} bytes of entries with {size}");
        assert_eq!((page.end.after, page.more), (sent[expected - 1].position, true));
    }
}

pub async fn the_first_row_fits_whatever_its_size<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish((0..2).map(|_| Event::of("large").bytes(vec![1; 10_000], "b"))).await;

    let page = bench.read(&Read { limit: Limit { entries: 10, bytes: 1 }, ..bench.everything() }).await;

    assert_eq!(positions(&page.entries), places(&[&sent[0]]));
    assert_eq!((page.end.after, page.more), (sent[0].position, true));
}

pub async fn pages_follow_each_other_without_gap_or_repeat<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish((0..23).map(|number| keyed(&format!("k{}", number % 5)))).await;
    let mut read = Read { limit: Limit { entries: 4, bytes: 1_000_000 }, ..bench.everything() };
    let mut seen = Vec::new();

    loop {
        let page = bench.read(&read).await;
        seen.extend(positions(&page.entries));
        read.after = page.end;
        if !page.more {
            break;
        }
    }

    assert_eq!(seen, places(&sent.iter().collect::<Vec<_>>()));
    assert_eq!(read.after.after, sent[22].position);
}

pub async fn an_empty_page_ends_at_the_last_committed_position<S: Subject>(subject: &S) {
    let (bench, sent) = three_lanes(subject).await;

    let lanes = LaneSet::from_iter([sent[0].lane]);
    let after = Cursor::at(sent[0].position);
    let page = bench.read(&Read { lanes, after, ..bench.everything() }).await;

    assert!(page.entries.is_empty());
    assert_eq!((page.end.after, page.more), (sent[2].position, false), "a quiet lane moves with the log");
}

pub async fn a_page_never_ends_before_it_began<S: Subject>(subject: &S) {
    let (bench, sent) = three_lanes(subject).await;
    let beyond = Cursor::at(Position(sent[2].position.0 + 10));

    let page = bench.read(&Read { after: beyond.clone(), ..bench.everything() }).await;

    assert!(page.entries.is_empty());
    assert_eq!((page.end.after, page.more), (beyond.after, false));
}

pub async fn an_empty_log_has_an_empty_page<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;

    let page = bench.page().await;

    assert!(page.entries.is_empty() && page.parked.is_empty() && !page.more && !page.stale);
    assert_eq!(page.end, Cursor::default());
}

pub async fn reads_what_the_filter_does_not_want_as_well<S: Subject>(subject: &S) {
    let bench = Bench::new(subject);
    let narrow = Filter { types: vec![Pattern::new("nothing")], topics: Vec::new() };
    bench.subscribe(&Subscription { filter: narrow, ..Subscription::new(SUB) }).await;
    let sent = bench.publish_one(keyed("a")).await;

    assert_eq!(positions(&bench.page().await.entries), places(&[&sent]), "the engine passes over it");
}

pub async fn says_what_is_not_due_yet<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let due_at = bench.now() + SOON;
    let sent = bench.publish([keyed("a").deliver_after(due_at), keyed("a")]).await;

    assert!(bench.entry(&sent[0]).await.delayed);
    assert!(!bench.entry(&sent[1]).await.delayed);
    bench.advance(SOON - Duration::from_micros(1));
    assert!(bench.entry(&sent[0]).await.delayed);
    bench.advance(Duration::from_micros(1));
    assert!(!bench.entry(&sent[0]).await.delayed, "at its instant it is due");
}

pub async fn a_row_that_cannot_be_understood_is_told_and_no_error<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let sent = bench.publish((0..4).map(|_| keyed("a").header("trace", "abc"))).await;

    subject.damage(Damage::GarbleHeaders(sent[1].position)).await;
    subject.damage(Damage::GarblePayload(sent[2].position)).await;

    let page = bench.page().await;
    assert_eq!(positions(&page.entries), places(&sent.iter().collect::<Vec<_>>()));
    let defects: Vec<bool> = page.entries.iter().map(|entry| entry.defect.is_some()).collect();
    assert_eq!(defects, [false, true, true, false]);
    let ids: Vec<_> = page.entries.iter().map(|entry| (entry.event.id, entry.event.key.clone())).collect();
    let expected: Vec<_> = sent.iter().map(|sent| (sent.id, sent.event.key.clone())).collect();
    assert_eq!(ids, expected, "the rest is filled in");
}

pub async fn a_payload_over_the_limit_is_told_and_not_loaded<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    let of_size = |size: usize| Event::of("large").key("a").bytes(vec![b'x'; size], "text/plain");
    let at_the_limit = bench.publish_unlimited(of_size(DEFAULT_PAYLOAD_LIMIT)).await;
    let bytes = bench.publish_unlimited(of_size(DEFAULT_PAYLOAD_LIMIT + 1)).await;
    // Letters of two bytes each: the limit is one of bytes.
    let json =
        Event::of("large").key("a").json(&"é".repeat(DEFAULT_PAYLOAD_LIMIT / 2)).expect("a text is JSON");
    let json = bench.publish_unlimited(json).await;
    let small = bench.publish_one(keyed("a")).await;

    let page = bench.page().await;

    assert_eq!(positions(&page.entries), places(&[&at_the_limit, &bytes, &json, &small]));
    assert_eq!((&page.entries[0].event, &page.entries[0].defect), (&at_the_limit.event, &None));
    assert_eq!((&page.entries[3].event, &page.entries[3].defect), (&small.event, &None));
    for (entry, sent) in page.entries[1..3].iter().zip([&bytes, &json]) {
        let (size, defect) = (sent.event.payload.len(), entry.defect.as_deref().unwrap_or_default());
        assert!(defect.contains(&size.to_string()) && defect.contains("1048576"), "{defect}");
        let expected = Event { payload: sent.event.payload.without_bytes(), ..sent.event.clone() };
        assert_eq!(entry.event, expected, "everything else is filled in");
    }
}

pub async fn is_stale_while_paused<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;
    assert!(!bench.page().await.stale);

    bench.act(OperatorAct::Pause(SUB.to_owned())).await.expect("pause");
    assert!(bench.page().await.stale);

    bench.act(OperatorAct::Resume(SUB.to_owned())).await.expect("resume");
    assert!(!bench.page().await.stale);
}

pub async fn is_stale_for_another_generation<S: Subject>(subject: &S) {
    let bench = Bench::subscribed(subject).await;

    for generation in [0, 2] {
        assert!(bench.read(&Read { generation, ..bench.everything() }).await.stale);
    }
}

pub async fn is_stale_for_a_subscription_that_is_gone<S: Subject>(subject: &S) {
    let bench = Bench::new(subject);
    bench.publish_one(unkeyed()).await;

    assert!(bench.page().await.stale);
}

/// Three events, each in another lane.
async fn three_lanes<S: Subject>(subject: &S) -> (Bench<'_, S>, Vec<Sent>) {
    let bench = Bench::subscribed(subject).await;
    let keys = bench.keys_of_distinct_lanes(3).await;
    let sent = bench.publish(keys.iter().map(|key| keyed(key))).await;
    assert!(bench.page().await.entries.iter().all(|entry: &Entry| !entry.blocked));
    (bench, sent)
}
